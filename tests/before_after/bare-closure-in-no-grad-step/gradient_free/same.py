"""Optimizers that ask a closure for losses and never read a gradient: SPSA, MeZO. Nothing is differentiated."""

import torch
from torch.optim import Optimizer


class SPSA(Optimizer):
    def __init__(self, params, lr=1e-2, c=1e-2):
        super().__init__(params, dict(lr=lr, c=c))

    @torch.no_grad()
    def step(self, closure):
        group = self.param_groups[0]
        directions = [torch.randn_like(p) for p in group["params"]]
        self._move(directions, group["c"])
        above = closure()
        self._move(directions, -2 * group["c"])
        below = closure()
        self._move(directions, group["c"])
        slope = (above - below) / (2 * group["c"])
        self._move(directions, -group["lr"] * slope)
        return above

    def _move(self, directions, by):
        for p, z in zip(self.param_groups[0]["params"], directions):
            p.add_(by * z)


class MeZO(torch.optim.Optimizer):
    def step(self, closure=None):
        with torch.no_grad():
            self.perturb(1)
            first = closure()
            self.perturb(-2)
            second = closure()
            self.perturb(1)
            self.update((first - second) / (2 * self.eps))
        return first
