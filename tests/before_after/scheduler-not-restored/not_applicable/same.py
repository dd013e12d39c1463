import torch
from somewhere import *
from torch.optim.lr_scheduler import StepLR


def of_a_model(model, batches, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 10)
    model.load_state_dict(torch.load(path))
    for x in batches:
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()


def shadowed(model, batches, path, StepLR):  # shadow: a parameter of that name
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 10)
    optimizer.load_state_dict(torch.load(path))
    for x in batches:
        model(x).mean().backward()
        scheduler.step()


def star(model, batches, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = WarmUp(optimizer)  # star: nobody knows what it is
    optimizer.load_state_dict(torch.load(path))
    for x in batches:
        model(x).mean().backward()
        scheduler.step()


def splat(model, batches, path, *args, **kwargs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(torch.load(path))
    scheduler = StepLR(*args)  # splat: of which optimizer nobody knows
    other = StepLR(optimizer, 10, **kwargs)  # keyword: the position may be among them
    for x in batches:
        model(x).mean().backward()
        scheduler.step()
        other.step()


def by_the_epoch(model, batches, path, start):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 10)
    optimizer.load_state_dict(torch.load(path))
    for epoch in range(start, 90):
        for x in batches:
            model(x).mean().backward()
            optimizer.step()
        scheduler.step(epoch)
