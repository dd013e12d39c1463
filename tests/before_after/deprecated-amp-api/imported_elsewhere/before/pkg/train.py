import torch
from torch.cuda.amp import autocast


def step(model, x):
    with autocast(enabled=False):
        return model(x)
