"""Another function zeroes."""

import torch
import torch.nn.functional as F
from torch import nn


def begin(optimizer):
    optimizer.zero_grad(set_to_none=True)


def train(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        begin(optimizer)
        (F.mse_loss(model(x), y) / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
