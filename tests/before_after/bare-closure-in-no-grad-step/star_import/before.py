# fixer: unsafe
from torch import *
from torch.optim import *


class Signed(Optimizer):
    @no_grad()
    def step(self, closure=None):
        loss = closure()
        return loss

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]
