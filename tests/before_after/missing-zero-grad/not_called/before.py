# fixer: unsafe
"""A method that is named and not called, beside conditions that have nothing to do with it."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if i % 10 == 0:
            print(loss.item())
        optimizer.step()
