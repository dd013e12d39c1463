import torch
from somewhere import *


def shadow(model, batches, step, n):  # shadow: a parameter of that name is called
    for i, batch in enumerate(batches):
        with nullcontext() if i % n == 0 else model.no_sync():
            model(batch).mean().backward()
        if (i + 1) % n == 0:
            step()


def star(model, batches, n):
    for i, batch in enumerate(batches):
        with nullcontext() if i % n == 0 else model.no_sync():
            model(batch).mean().backward()
        if (i + 1) % n == 0:
            update(model)  # star: nobody knows what the import brings


def splat(model, optimizer, batches, *args):
    for i, batch in enumerate(batches):
        with model.no_sync(*args):  # splat: no test decides
            model(batch).mean().backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def keyword(fabric, model, optimizer, batches, **options):
    for i, batch in enumerate(batches):
        with fabric.no_backward_sync(model, **options):  # keyword: nobody knows when
            fabric.backward(model(batch).mean())
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
