import torch
import torch.nn.functional as F
from somewhere import *


def star(model, x, y):
    with torch.autocast("cuda"):
        return binary_cross_entropy(sigmoid(model(x)), y)  # star: nobody knows what the import brings


def shadow(model, x, y, F):  # shadow: a parameter of that name
    with torch.autocast("cuda"):
        return F.binary_cross_entropy(torch.sigmoid(model(x)), y)


def splat(x, *args):
    with torch.autocast("cuda"):
        return F.binary_cross_entropy(torch.sigmoid(x), *args)  # splat: whatever the arguments are


def keyword(x, **kwargs):
    with torch.autocast("cuda"):
        return F.binary_cross_entropy(torch.sigmoid(x), **kwargs)  # keyword: the same


def elsewhere(probabilities, y):
    with torch.autocast("cuda"):
        return F.binary_cross_entropy(probabilities, y)
