"""Each window begins anew."""

import torch
import torch.nn.functional as F
from torch import nn


def train(windows):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for window in windows:
        optimizer.zero_grad()
        for i, (x, y) in enumerate(window):
            (F.mse_loss(model(x), y) / len(window)).backward()
            if (i + 1) % len(window) == 0:
                optimizer.step()
