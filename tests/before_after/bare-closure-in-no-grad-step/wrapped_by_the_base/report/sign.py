import torch
from base import Base


class Sign(Base):
    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad.sign())
        return loss


def train(model, x):
    optimizer = Sign(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(10):
        optimizer.step(closure)
