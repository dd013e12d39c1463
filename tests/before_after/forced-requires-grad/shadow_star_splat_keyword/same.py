from torch import *


def shadow(loss, model):
    # another `loss`, in a scope of its own
    loss.requires_grad_()

    def inner(loss):
        loss.backward()

    return [loss.backward() for loss in model.losses()]


def splat(loss, options):
    loss.requires_grad_(*options)
    loss.backward()


def keyword(loss, options):
    loss.requires_grad_(**options)
    loss.backward()


def star(loss):
    start = rand(3)
    start = tensor(2.0).requires_grad_()
    start.backward()
