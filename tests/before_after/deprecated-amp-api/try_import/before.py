# fixer: strategy=try-import
import os

# mixed precision
from torch.cuda.amp import autocast, custom_bwd, custom_fwd as fwd
import torch


class Square(torch.autograd.Function):
    @staticmethod
    @fwd
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @custom_bwd
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Head(torch.nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.linear = torch.nn.Linear(features, 1)

    def forward(self, x):
        with autocast(enabled=False):
            return Square.apply(self.linear(x))
