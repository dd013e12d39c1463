# fixer: unsafe
"""Behind the step in both arms: the bug does not hang on the test."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, mixed):
    model = nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cuda", enabled=mixed)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        if mixed:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        if mixed:
            scaler.update()
