import torch
from somewhere import *


def shadow(model, state, GradScaler):  # shadow: a parameter of that name
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(state)
    scaler = GradScaler()
    scaler.step(optimizer)


def star(model, state):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(state)
    SCALER.step(optimizer)  # star: nobody knows what the import brings


def splat(model, state, *args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(state)
    torch.amp.GradScaler("cuda").step(*args)  # splat: nobody knows what it steps


def keyword(model, state, **options):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(state)
    torch.amp.GradScaler("cuda").step(**options)  # keyword: the same
