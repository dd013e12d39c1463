"""A scaler that comes with the arguments, and all callers in sight give a `GradScaler`."""

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, loader, scaler):
    for batch in loader:
        step(model, optimizer, batch, scaler=scaler)


def step(model, optimizer, batch, *, scaler):
    scaler.scale(model(batch)).backward()
    scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()


def main(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    train(model, optimizer, loader, scaler)
    train(model, optimizer, loader, torch.cuda.amp.GradScaler())
