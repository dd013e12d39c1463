# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


ACCUMULATE = 4


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    norms = []
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 100.0).item())
            optimizer.step()
            optimizer.zero_grad()
    return norms
