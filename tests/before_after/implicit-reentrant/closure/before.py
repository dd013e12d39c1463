import torch
import torch.utils.checkpoint as cp
from torch import nn


class Residual(nn.Module):
    """The input comes by closure, so that the checkpoint has no input of its own."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.act = nn.SiLU()

    def forward(self, x):
        def inner():
            return self.act(self.linear(x))

        return x + cp.checkpoint(inner)


def build(width=8):
    return nn.Sequential(nn.Linear(width, width), Residual(width), nn.Linear(width, 1))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
