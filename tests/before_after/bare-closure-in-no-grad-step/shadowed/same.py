import torch
from contextlib import nullcontext as no_grad


class Rebound(torch.optim.Optimizer):
    @no_grad()
    def step(self, closure=None):
        return closure()


class Optimizer:
    pass


class Own(Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        return closure()


class Local(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        def closure():
            return 1.0

        return closure()
