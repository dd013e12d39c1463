"""Schedules of steps, of batches, and of epochs."""

import torch
import torch.nn.functional as F
from torch import nn


def in_the_gate(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=len(batches) // n)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()


def by_epochs(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(4):
        for i, (x, y) in enumerate(batches):
            (F.mse_loss(model(x), y) / n).backward()
            if (i + 1) % n == 0:
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()


def unless_not_finite(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=100)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if torch.isfinite(loss):
            optimizer.step()
        scheduler.step()


def told_where_it_stands(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step(i / len(batches))
