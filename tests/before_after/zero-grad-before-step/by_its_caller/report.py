"""The step stands in a function of its own, and `zero_grad()` before its call."""

import torch
import torch.nn.functional as F
from torch import nn


def update(optimizer, scheduler):
    optimizer.step()
    scheduler.step()


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        update(optimizer, scheduler)
