"""A generator goes on in each round, and clears what the last one left."""

import torch
import torch.nn.functional as F
from torch import nn


def train(data):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def batches():
        for x, y in data:
            yield x, y
            model.zero_grad()

    for x, y in batches():
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def _cleared(data, optimizer):
    for each in data:
        optimizer.zero_grad()
        yield each


def by_argument(data):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    drawn = enumerate(_cleared(data, optimizer))
    for _, (x, y) in drawn:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
