"""What each round computes is read before it is thrown away."""

import torch
import torch.nn.functional as F
from torch import nn


def keep(model, sums):
    for name, parameter in model.named_parameters():
        sums[name] = sums.get(name, 0) + parameter.grad.clamp(-1, 1)


def train(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    sums = {}
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        keep(model, sums)
        if (i + 1) % n == 0:
            for name, parameter in model.named_parameters():
                parameter.grad.copy_(sums.pop(name) / n)
            optimizer.step()
