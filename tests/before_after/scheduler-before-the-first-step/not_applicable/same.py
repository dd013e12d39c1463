import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = make_scheduler(optimizer)  # star: what makes it is not known
    for x, y in batches:
        scheduler.step()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for x, y in batches:
        scheduler.step()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def handed_over(model, batches, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for x, y in batches:
        scheduler.step(*args)  # splat: it may be the number of the epoch
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for x, y in batches:
        scheduler.step(**kwargs)  # keyword: the same
        F.mse_loss(model(x), y).backward()
        optimizer.step()
