"""A hook that may zero the gradients in between."""

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def clear(*_):
    model.zero_grad()


model.register_forward_pre_hook(clear)


def train(batches):
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
