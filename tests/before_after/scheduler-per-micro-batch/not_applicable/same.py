import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = make_scheduler(optimizer)  # star: what makes it is not known
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=100 // 4)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()


def handed_over(model, batches, hook, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=100 // 4)
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
        hook(optimizer, *args)  # splat: nobody knows what it does with the optimizer
        scheduler.step()
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
        hook(scheduler=scheduler, **kwargs)  # keyword: the same
        scheduler.step()
