# fixer: unsafe
"""Accumulated, scaled, as methods, at the top of a file: each never zeroes."""

import torch
import torch.nn.functional as F
from torch import nn


def accumulated(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters())
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if (i + 1) % n == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def scaled(batches):
    model = nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        with torch.autocast("cuda"):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        optimizer.zero_grad()
        scaler.update()


class Learner:
    def __init__(self):
        self.model = nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.optimizer.zero_grad()

    def loss(self, x, y):
        return F.mse_loss(self.model(x), y)

    def fit(self, batches):
        for x, y in batches:
            self.loss(x, y).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


def backward(loss):
    loss.backward()


net = nn.Linear(8, 1)
adam = torch.optim.Adam(net.parameters())
for x in torch.randn(4, 2, 8):
    backward(net(x).square().mean())
    adam.step()
    adam.zero_grad()
