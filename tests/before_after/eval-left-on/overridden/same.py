"""A model that keeps its dropout on: `eval()` calls `train(False)`, which the class overrides."""

import torch
import torch.nn.functional as F
from torch import nn


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))

    def train(self, mode=True):
        return super().train(True)

    def forward(self, x):
        return self.net(x)


def train(batches, x):
    model = Sampler()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        model.eval()
        print(model(x).mean().item())
