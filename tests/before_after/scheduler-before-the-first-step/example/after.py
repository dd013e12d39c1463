# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


def train(batches, epochs=4):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    rates = []
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step()
    return rates
