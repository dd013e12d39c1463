# fixer: unsafe
import torch
from torch.optim import Optimizer


class SignDescent(Optimizer):
    def step(self, closure):
        torch.set_grad_enabled(False)
        loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


class Plain(Optimizer):
    def step(self, closure):
        loss = closure()
        torch.set_grad_enabled(False)
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss
