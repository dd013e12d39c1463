from somewhere import *
from torch import nn
from torch.optim import SGD


def shadow(model, SGD):  # shadow: a parameter of that name
    optimizer = SGD(model.parameters())
    model.head = nn.Linear(8, 2)
    optimizer.step()


def star(model):
    optimizer = SGD(model.parameters())
    model.head = NewHead(8, 2)  # star: nobody knows what the import brings
    optimizer.step()


def splat(model, *args):
    optimizer = SGD(*args)  # splat: nobody knows of which parameters
    model.head = nn.Linear(8, 2)
    optimizer.step()


def keyword(model, weights, **options):
    optimizer = SGD(model.parameters())
    model.load_state_dict(weights, **options)  # keyword: nobody knows whether it assigns
    optimizer.step()
