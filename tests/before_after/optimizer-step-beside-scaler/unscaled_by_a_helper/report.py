"""A helper unscales: the size of the step is right, but overflows are not skipped."""

import torch


def optimize(scaler, optimizer):
    scaler.unscale_(optimizer)


def helped(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimize(scaler, optimizer)
        optimizer.step()
