"""What reads gradients itself may want them as they are behind the step."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        print(model.weight.grad.norm())
