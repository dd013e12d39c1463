"""The body may be left before its end."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, limit):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for x, y in batches:
        scheduler.step()
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if loss < limit:
            continue
        print(loss)
