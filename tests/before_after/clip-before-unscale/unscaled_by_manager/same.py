"""A context manager of the project unscales."""

from contextlib import contextmanager

import torch
from torch.nn.utils import clip_grad_norm_


@contextmanager
def unscaled(scaler, optimizer):
    scaler.unscale_(optimizer)
    yield


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        with unscaled(scaler, optimizer):
            clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
