"""The length of the schedule is that of the loader."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, n, epochs):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(batches))
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches):
            (F.mse_loss(model(x), y) / n).backward()
            if (i + 1) % n == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
