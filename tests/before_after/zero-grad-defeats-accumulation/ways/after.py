# fixer: unsafe
"""The model's own `zero_grad()`, at the end of the round, a counter, a guard that leaves the round, a scaler."""

import torch
import torch.nn.functional as F
from torch import nn


def by_the_model(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if i % n == n - 1:
            optimizer.step()
            model.zero_grad()


def counting(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    seen = 0
    for x, y in batches:
        seen += 1
        (F.mse_loss(model(x), y) / 4).backward()
        if seen % 4 != 0:
            continue
        optimizer.step()
        optimizer.zero_grad()


def scaled(batches, n):
    model = nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cuda")
    for i, (x, y) in enumerate(batches):
        with torch.autocast("cuda"):
            loss = F.mse_loss(model(x), y) / n
        scaler.scale(loss).backward()
        if (i + 1) % n == 0 or i + 1 == len(batches):
            scaler.step(optimizer)
            optimizer.zero_grad()
            scaler.update()
