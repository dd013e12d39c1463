import torch
import torch.nn as nn
import torch.nn.functional as F


AMP = {"device_type": "cuda", "cache_enabled": False}


def train(model, x):
    with torch.autocast(**AMP):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


def train_with(model, x, use_amp=True):
    options = dict(enabled=False)
    with torch.autocast("cuda", **options):
        with torch.no_grad(mode=False) if use_amp else torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)
