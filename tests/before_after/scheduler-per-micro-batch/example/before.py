# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


def train(batches, accumulate=4):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=len(batches) // accumulate)
    rates = []
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
    return rates
