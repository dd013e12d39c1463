"""Schedules that begin with their first value, and one that is wound forward."""

import torch
import torch.nn.functional as F
from torch import nn


def epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def at_the_end(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(4):
        epoch(model, optimizer, batches)
        scheduler.step()


def but_for_the_first(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for number in range(4):
        if number > 0:
            scheduler.step()
        epoch(model, optimizer, batches)


def wound_forward(batches, done):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(done):
        scheduler.step()
    for _ in range(done, 4):
        epoch(model, optimizer, batches)
        scheduler.step()


def by_number(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for number in range(4):
        scheduler.step(number)
        epoch(model, optimizer, batches)


def warmed_up(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    epoch(model, optimizer, batches)
    for _ in range(3):
        scheduler.step()
        epoch(model, optimizer, batches)
