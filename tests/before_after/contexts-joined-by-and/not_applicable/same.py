import torch
from somewhere import *


def shadow(x, no_grad, autocast):  # shadow: parameters of these names
    with no_grad() and autocast():
        return x


def star(x):
    with scope() and torch.no_grad():  # star: nobody knows what the import brings
        return x


def splat(x, *args):
    with args[0] and torch.no_grad():  # splat: it may be None
        return x


def keyword(x, **options):
    with options.get("scope") or torch.no_grad():  # keyword: it may be None
        return x
