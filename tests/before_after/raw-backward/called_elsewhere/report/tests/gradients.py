"""Passes today; with `manual_backward`: `RuntimeError: Regression is not attached to a Trainer`."""

import torch
from app.module import Regression


def test_gradients_flow():
    module = Regression()
    module.optimizers = lambda: torch.optim.SGD(module.parameters(), lr=0.1)
    module.descend([torch.ones(2, 8)])
    assert module.net.weight.grad is not None
