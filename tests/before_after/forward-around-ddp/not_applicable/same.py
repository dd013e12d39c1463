import torch
from somewhere import *


def shadow(model, batches, DistributedDataParallel):  # shadow: a parameter of that name
    model = DistributedDataParallel(model)
    for x, y in batches:
        model.module(x).mean().backward()


def star(model, batches):
    model = DDP(model)  # star: nobody knows what the import brings
    for x, y in batches:
        model.module(x).mean().backward()


def splat(model, batches, *args):
    model = torch.nn.parallel.DistributedDataParallel(*args)  # splat: nobody knows what is wrapped
    for x, y in batches:
        model(x).mean().backward()


def keyword(batches, **options):
    model = torch.nn.parallel.DistributedDataParallel(**options)  # keyword: the same
    for x, y in batches:
        model(x).mean().backward()


def not_known(model, batches):
    for x, y in batches:
        model.module(x).mean().backward()


def given(model, batches):
    net = model.module if hasattr(model, "module") else model
    for x, y in batches:
        net(x).mean().backward()
