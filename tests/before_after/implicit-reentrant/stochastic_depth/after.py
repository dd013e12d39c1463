# fixer: strategy=preserve
import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """Stochastic depth by Python's own random numbers, which a recomputation does not repeat."""

    def __init__(self, width, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            if random.random() < 0.5:
                x = x + torch.tanh(layer(x))
        return x


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.block = Block(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(checkpoint(self.block, self.embed(x), use_reentrant=True))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

