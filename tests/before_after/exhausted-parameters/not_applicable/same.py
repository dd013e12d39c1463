import torch
from somewhere import *


def shadow(model, list, SGD):  # shadow: parameters of these names
    params = model.parameters()
    return list(params), SGD(params)


def star(model):
    params = parameters(model)  # star: nobody knows what the import brings
    return torch.optim.SGD(params), torch.optim.Adam(params)


def splat(model, *args):
    params = model.parameters(*args)  # splat: it may be told anything
    return torch.optim.SGD(params), torch.optim.Adam(params)


def keyword(model, **options):
    params = model.get_parameters(**options)  # keyword: a method of its own
    return torch.optim.SGD(params), torch.optim.Adam(params)
