import torch
import torch.nn as nn
import torch.nn.functional as F


OPTIONS = {"device_type": "cuda", "enabled": False}


def train(model, batches, optimizer):
    with torch.autocast(**OPTIONS):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


def train_splat(model, batches, optimizer):
    options = dict(cache_enabled=False)
    with torch.autocast("cuda", **options):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step(*[])
