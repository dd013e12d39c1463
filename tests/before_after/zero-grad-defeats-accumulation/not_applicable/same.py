import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(model, batches):
    optimizer = make_optimizer(model)  # star: what makes it is not known
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        if i % 4 == 3:
            optimizer.step()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        if i % 4 == 3:
            optimizer.step()


def handed_over(model, batches, hook, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        hook(optimizer, *args)  # splat: nobody knows what it does with the optimizer
        if i % 4 == 3:
            optimizer.step()
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        hook(optimizer=optimizer, **kwargs)  # keyword: the same
        if i % 4 == 3:
            optimizer.step()
