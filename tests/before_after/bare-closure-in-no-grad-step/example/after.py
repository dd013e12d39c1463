"""Sign descent with momentum."""

import torch
from torch.optim import Optimizer


class SignDescent(Optimizer):
    def __init__(self, params, lr=1e-2, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self, closure=None):
        """Performs a single optimization step."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()  # computes the loss and its gradients

        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                average = self.state[p].setdefault("average", torch.zeros_like(p))
                average.mul_(group["beta"]).add_(p.grad, alpha=1 - group["beta"])
                p.add_(average.sign(), alpha=-group["lr"])
        return loss


def build_model():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def train(model, batches):
    optimizer = SignDescent(model.parameters())
    losses = []
    for x, y in batches:

        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        losses.append(optimizer.step(closure).item())
    return losses
