# fixer: unsafe
"""What the schedule counts is not told: possible."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, steps):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    scaler = torch.amp.GradScaler("cuda")
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / 8
        scaler.scale(loss).backward()
        if (i + 1) % 8 == 0:
            scaler.step(optimizer)
            scheduler.step()
            scaler.update()
            optimizer.zero_grad()
