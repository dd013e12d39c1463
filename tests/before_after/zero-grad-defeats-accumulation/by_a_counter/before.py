# fixer: unsafe
"""A counter that is kept by hand; the model is a parameter, and the optimizer holds what is given for it."""

import torch
import torch.nn.functional as F
from torch import nn


def train(model, optimizer, batches):
    seen = 0
    for x, y in batches:
        model.zero_grad()
        (F.mse_loss(model(x), y) / 4).backward()
        seen += 1
        if seen == 4:
            optimizer.step()
            seen = 0


net = nn.Linear(8, 1)
adam = torch.optim.Adam(net.parameters())
train(net, adam, [(torch.ones(2, 8), torch.ones(2, 1))] * 8)
