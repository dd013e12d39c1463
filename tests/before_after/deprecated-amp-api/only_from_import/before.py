# fixer: target=torch==2.7.1
"""Trains a small classifier."""
from torch.cuda.amp import autocast, GradScaler


def fit(model, loader, optimizer, fp16):
    scaler = GradScaler(enabled=fp16)
    for x, y in loader:
        with autocast(enabled=fp16):
            loss = model(x, y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
