# fixer: target=torch==2.7.1
"""Trains a small classifier."""
import torch


def fit(model, loader, optimizer, fp16):
    scaler = torch.amp.GradScaler("cuda", enabled=fp16)
    for x, y in loader:
        with torch.amp.autocast("cuda", enabled=fp16):
            loss = model(x, y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
