import torch
from somewhere import *


def shadow(z, softmax):  # shadow: a parameter of that name
    return torch.log(softmax(z))


def star(z):
    return torch.log(softmax(z))  # star: nobody knows what the import brings


def splat(z, *args):
    return torch.log(torch.softmax(*args))  # splat: nobody knows what it is of


def keyword(z, **options):
    return torch.log(torch.softmax(z, **options))  # keyword: the same
