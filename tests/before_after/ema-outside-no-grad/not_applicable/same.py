import torch
from somewhere import *


def shadow(ema, model, torch):  # shadow: a parameter of that name
    with torch.no_grad():
        for e, p in zip(ema.buffers(), model.buffers()):
            e.copy_(p)


def star(ema, model):
    for e, p in pairs(ema, model):  # star: nobody knows what the import brings
        e.copy_(p)


def splat(*models):
    for e, p in zip(*models):  # splat: nobody knows what is in them
        e.copy_(p)


def keyword(ema, model, **options):
    for e, p in zip(ema.parameters(), model.parameters(), **options):  # keyword: the same pairs
        update(e, p)
