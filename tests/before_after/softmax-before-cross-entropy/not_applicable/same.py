import torch
import torch.nn.functional as F
from somewhere import *


def shadow(z, y, softmax):  # shadow: a parameter of that name
    return F.cross_entropy(softmax(z), y)


def star(z, y):
    return F.cross_entropy(softmax(z), y)  # star: nobody knows what the import brings


def splat(z, y, *args):
    return F.cross_entropy(*args, F.softmax(z)) + F.cross_entropy(torch.softmax(*args), y)  # splat: the same


def keyword(z, y, **options):
    return F.cross_entropy(torch.softmax(z, **options), y)  # keyword: nobody knows what is given
