"""Every round is a window."""

import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATE = 1


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        (F.mse_loss(model(x), y) / ACCUMULATE).backward()
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
