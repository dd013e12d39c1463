# fixer: unsafe
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, batches):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model.module(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
