"""No layer of the program does otherwise in evaluation mode."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        model.eval()
        print(model(x).mean().item())
