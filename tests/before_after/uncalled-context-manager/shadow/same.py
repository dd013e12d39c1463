import contextlib

import torch
from torch import enable_grad

no_grad = contextlib.nullcontext()


class inference_mode:
    """A class whose class is a context manager."""

    class Meta(type):
        def __enter__(cls):
            return cls

        def __exit__(cls, *error):
            return None


def evaluate(net, x, enable_grad):
    with no_grad, enable_grad:
        net(x)
    with inference_mode:
        return net(x)


def other_torch(net, x, torch):
    with torch.no_grad:
        return net(x)


class Torch:
    no_grad = contextlib.nullcontext()

    def evaluate(self, net, x):
        with self.no_grad:
            return net(x)


def bound_again(net, x):
    enable_grad = contextlib.nullcontext()
    with enable_grad:
        return net(x)
