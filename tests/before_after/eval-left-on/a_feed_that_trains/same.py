"""Iterating the feed puts the model into training mode."""

import torch
import torch.nn.functional as F
from torch import nn


class Feed:
    def __init__(self, model, batches):
        self.model, self.batches = model, batches

    def __iter__(self):
        self.model.train()
        yield from self.batches


def train(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    feed = Feed(model, batches)
    for _ in range(4):
        for inputs, targets in feed:
            optimizer.zero_grad()
            F.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        model.eval()
        print(model(x).mean().item())
