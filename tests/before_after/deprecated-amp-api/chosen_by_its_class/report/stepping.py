import functools

import torch


@functools.singledispatch
def advance(scaler, optimizer, loss):
    loss.backward()
    optimizer.step()


def scaled(scaler, optimizer, loss):
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


for device in ("cuda", "cpu"):
    advance.register(getattr(torch, device).amp.GradScaler, scaled)
