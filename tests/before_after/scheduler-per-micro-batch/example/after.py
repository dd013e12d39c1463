# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


ACCUMULATE = 4


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=len(batches) // ACCUMULATE)
    rates = []
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    return rates
