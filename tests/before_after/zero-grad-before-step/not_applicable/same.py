import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(model, batches):
    optimizer = make_optimizer(model)  # star: what makes it is not known
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()


def handed_over(model, batches, hook, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        hook(optimizer, *args)  # splat: it may make gradients
        optimizer.step()
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        hook(optimizer=optimizer, **kwargs)  # keyword: the same
        optimizer.step()
