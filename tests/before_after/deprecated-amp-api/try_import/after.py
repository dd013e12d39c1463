# fixer: strategy=try-import
import os

# mixed precision
import functools
try:
    from torch.amp import custom_bwd, custom_fwd as fwd
    custom_bwd = functools.partial(custom_bwd, device_type="cuda")
    fwd = functools.partial(fwd, device_type="cuda")
except ImportError:
    from torch.cuda.amp import custom_bwd, custom_fwd as fwd
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
        with torch.amp.autocast("cuda", enabled=False):
            return Square.apply(self.linear(x))
