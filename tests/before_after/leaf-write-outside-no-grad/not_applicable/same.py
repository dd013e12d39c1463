import torch
from somewhere import *


def shadow(model, lr, torch):  # shadow: a parameter of that name
    with torch.no_grad():
        for p in model.parameters():
            p.data -= lr * p.grad


def star(model, lr):
    with frozen():  # star: nobody knows what the import brings
        for p in model.parameters():
            p.data -= lr * p.grad


def splat(model, *args):
    for p in model.parameters():
        update(p, *args)  # splat: nobody knows what it does


def keyword(model, **options):
    for p in model.parameters():
        update(p, gradient=p.grad, **options)  # keyword: the same
