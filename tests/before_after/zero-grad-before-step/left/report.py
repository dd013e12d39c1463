"""`zero_grad()` in a helper, and within a larger statement: left as it is."""

import torch
import torch.nn.functional as F
from torch import nn


def prepare(optimizer):
    optimizer.zero_grad()


def in_a_helper(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        prepare(optimizer)
        optimizer.step()


def within(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        nothing = optimizer.zero_grad()
        optimizer.step()
    return nothing
