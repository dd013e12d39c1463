# fixer: unsafe
import torch
from torch import nn


def step(model, lr):
    for p in model.parameters():
        with torch.no_grad():
            p.sub_(lr * p.grad)


class Training:
    def __init__(self):
        self.scale = nn.Parameter(torch.ones(3))

    def update(self, x, lr):
        (self.scale * x).sum().backward()
        with torch.no_grad():
            self.scale.add_(self.scale.grad, alpha=-lr)


def main(batches):
    model, training = nn.Linear(8, 1), Training()
    for x, y in batches:
        nn.functional.mse_loss(model(x), y).backward()
        step(model, 0.1)
        training.update(x, 0.1)
        for p in model.parameters():
            with torch.no_grad():
                p += -0.1 * p.grad
        model.zero_grad()


main([])
