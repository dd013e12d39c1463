import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(model, batches):
    optimizer = make_optimizer(model)  # star: what makes it is not known
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def handed_over(model, batches, hook, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        hook(optimizer, *args)  # splat: nobody knows what it does with the optimizer
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        hook(optimizer=optimizer, **kwargs)  # keyword: the same
