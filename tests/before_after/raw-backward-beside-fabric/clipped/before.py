import torch
import torch.nn.functional as F
from lightning.fabric import Fabric


def train(fabric: Fabric, batches) -> torch.nn.Module:
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        fabric.clip_gradients(model, optimizer, max_norm=0.5)
        optimizer.step()
    return model
