import torch
from lightning.fabric import Fabric


def train_step(fabric: Fabric, model, optimizer, batch):
    """Who calls this, and with what, is not to be seen."""
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()


def two_losses(model, optimizer, batch):
    fabric = Fabric(precision="bf16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    loss, penalty = model(batch)
    torch.autograd.backward([loss, penalty])
    optimizer.step()
