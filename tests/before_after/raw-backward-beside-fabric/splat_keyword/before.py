import torch
from lightning_fabric import Fabric


def main(models, loader, *args, **kwargs):
    fabric = Fabric(*args, **kwargs)
    model, optimizer, *_ = fabric.setup(*models)
    for batch in loader:
        loss = model(batch)
        loss.backward(gradient=torch.ones_like(loss), **kwargs)
        optimizer.step()
