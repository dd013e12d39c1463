"""Each round evaluates first, and trains on in evaluation mode from the second one."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    for inputs, targets in batches:
        model.eval()
        print(model(x).mean().item())
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
