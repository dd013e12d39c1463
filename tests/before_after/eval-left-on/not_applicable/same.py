import torch
import torch.nn.functional as F
from my_toolbox import *


def unknown(batches):
    model = build()  # star: what it is, and what holds its parameters, is not known
    optimizer = make_optimizer(model)
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        model.eval()


def taken(model, torch, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # shadow: another torch
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        model.eval()


def handed_over(model, batches, hook, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        model.eval()
        hook(model, *args)  # splat: nobody knows what it does with the model
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        model.eval()
        hook(model=model, **kwargs)  # keyword: the same
