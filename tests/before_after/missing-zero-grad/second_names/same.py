"""Something that nobody can look into is given the optimizer under another name, and may set its gradients to zero."""

import torch
import torch.nn.functional as F
from torch import nn


def unpacked(batches, strategy):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    net, opt = model, optimizer
    for x, y in batches:
        F.mse_loss(net(x), y).backward()
        optimizer.step()
        strategy.after(opt)


def chosen(batches, strategy, other):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    opt = other if other is not None else optimizer
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        strategy.after(opt)


def walrus(batches, strategy):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    strategy.begin(len((opt := optimizer).param_groups))
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        strategy.after(opt)
