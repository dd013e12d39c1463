"""What a function out of sight does with the gradients cannot be told."""

import torch
from training import unscale_gradients


def train(model, optimizer, loader, init_scale):
    scaler = torch.amp.GradScaler("cuda", init_scale=init_scale)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        unscale_gradients(model.parameters(), init_scale)
        optimizer.step()
