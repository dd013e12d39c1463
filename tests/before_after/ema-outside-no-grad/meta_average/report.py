"""Learns starting weights from which an average of fast weights does well (the outer gradient goes through the average)."""
import torch
import torch.nn.functional as F
from torch import nn


class Weights:
    """A linear model whose weights are computed tensors."""

    def __init__(self, tensors):
        self.tensors = tensors

    def parameters(self):
        return iter(self.tensors)

    def __call__(self, x):
        return F.linear(x, *self.tensors)


def adapt(start, x, y, steps=3, lr=0.1, decay=0.5):
    fast = Weights([p * 1.0 for p in start.parameters()])
    average = Weights([p * 1.0 for p in start.parameters()])
    for _ in range(steps):
        loss = F.mse_loss(fast(x), y)
        grads = torch.autograd.grad(loss, list(fast.parameters()), create_graph=True)
        fast = Weights([p - lr * g for p, g in zip(fast.parameters(), grads)])
        for e, p in zip(average.parameters(), fast.parameters()):
            e.mul_(decay).add_(p, alpha=1 - decay)
    return average


def train(tasks, lr=0.05):
    start = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(start.parameters(), lr=lr)
    losses = []
    for x, y in tasks:
        optimizer.zero_grad()
        loss = F.mse_loss(adapt(start, x, y)(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, start.weight.grad.norm().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    print(train([(x, x.sum(1, keepdim=True)) for x in torch.randn(20, 16, 8)]))
