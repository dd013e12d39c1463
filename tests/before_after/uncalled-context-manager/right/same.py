"""What is called, what is an instance already, and what PyTorch lets stand without a call."""

import contextlib
from functools import partial

import torch


@torch.no_grad
def evaluate(net, x):
    return net(x)


@torch.inference_mode
def predict(net, x):
    return net(x)


class Net(torch.nn.Module):
    @torch.enable_grad
    def forward(self, x):
        return x


def called(net, x):
    with torch.no_grad():
        net(x)
    with torch.no_grad() as nothing, torch.autograd.detect_anomaly():
        net(x)
    with torch.set_grad_enabled(net.training), torch.autocast("cpu"):
        return net(x)


def instances(net, x, flag):
    ctx = torch.no_grad()
    with ctx:
        net(x)
    ctx = torch.no_grad
    with ctx():
        net(x)
    ctx = torch.no_grad if flag else contextlib.nullcontext
    with ctx:  # wrong, but not surely `torch.no_grad`
        net(x)
    mode = torch.inference_mode if flag else torch.no_grad
    with mode():
        return net(x)


def handed_on(net, x, manager=torch.no_grad):
    with manager():
        net(x)
    with manager:  # whatever the caller gave
        net(x)
    frozen = partial(torch.inference_mode, True)
    with frozen():
        return torch.no_grad(net)(x)


class Switch:
    def __init__(self):
        self.off = torch.no_grad()

    def __call__(self, net, x):
        with self.off:
            return net(x)


async def served(net, x):
    async with torch.no_grad:  # wants `__aenter__`, which a call would not bring
        return net(x)
