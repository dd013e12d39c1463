"""Only without a scaler the clip runs before the backward pass."""

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, mixed, n):
    model = nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cuda")
    for i, (x, y) in enumerate(batches):
        if mixed:
            with torch.autocast("cuda"):
                loss = F.mse_loss(model(x), y)
            scaler.scale(loss).backward()
        else:
            loss = F.mse_loss(model(x), y)
        if i % n == 0:
            if mixed:
                scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if mixed:
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                optimizer.step()
            optimizer.zero_grad()
