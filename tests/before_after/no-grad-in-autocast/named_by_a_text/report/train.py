import importlib

import torch


def loss_of(name):
    module, _, function = name.partition(":")
    return torch.compile(getattr(importlib.import_module(module), function), fullgraph=True)


def train(model, optimizer, batches):
    loss = loss_of("losses:consistency")
    for x in batches:
        optimizer.zero_grad()
        loss(model, x, x + 0.1).backward()
        optimizer.step()
