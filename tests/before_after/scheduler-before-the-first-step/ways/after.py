# fixer: unsafe
"""A function trains an epoch; a schedule of another library, by batches."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers import get_linear_schedule_with_warmup


def epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def main(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 3])
    for number in range(4):
        print(number)
        epoch(model, optimizer, batches)
        scheduler.step()


def by_batches(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    schedule = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=2, num_training_steps=10)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        schedule.step()
