# fixer: unsafe
"""The model's `zero_grad()`, a clip in between, a step in every N-th round, a scaler, a function for one batch."""

import torch
import torch.nn.functional as F
from torch import nn


def by_the_model(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        model.zero_grad()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def under_a_condition(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if i % n == n - 1:
            optimizer.zero_grad()
            optimizer.step()


def scaled(batches):
    model = nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        with torch.autocast("cuda"):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        optimizer.zero_grad(set_to_none=False)
        scaler.step(optimizer)
        scaler.update()


class Training:
    def __init__(self):
        self.model = nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def on_batch(self, x, y):
        F.mse_loss(self.model(x), y).backward()
        self.optimizer.zero_grad()
        self.optimizer.step()
