# fixer: unsafe
from contextlib import nullcontext

import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, batches, accumulate):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for i, (x, y) in enumerate(batches):
        with nullcontext() if i % accumulate == 0 else model.no_sync():
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses
