# fixer: unsafe
import torch
from torch import *
from torch.optim import *


class Signed(Optimizer):
    @no_grad()
    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure()
        return loss

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]
