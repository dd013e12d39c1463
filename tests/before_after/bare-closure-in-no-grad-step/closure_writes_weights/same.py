"""A closure that changes weights itself relies on the `no_grad` of `step`: under `enable_grad` its write raises."""

import torch
import torch.nn.functional as F
from torch.optim import Optimizer


class Averaged(Optimizer):
    @torch.no_grad()
    def step(self, closure):
        loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-group["lr"])
        return loss


def train(model, x, y):
    optimizer = Averaged(model.parameters(), dict(lr=0.1))

    def closure():
        model.weight.mul_(0.9)
        return F.mse_loss(model(x), y)

    optimizer.step(closure)
