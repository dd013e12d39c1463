"""A norm that is kept: left as it is."""

import torch
import torch.nn.functional as F
from torch import nn


def kept(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return norm
