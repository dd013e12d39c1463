# fixer: target=torch==2.4.1
import torch
from torch.cuda.amp import custom_bwd, custom_fwd


class Scale(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    @custom_bwd
    def backward(ctx, grad):
        return grad * ctx.factor, None


class Lookup(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    @torch.cuda.amp.custom_bwd
    def backward(ctx, grad):
        return grad


class Head(torch.nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.linear = torch.nn.Linear(features, 1)

    def forward(self, x):
        return Scale.apply(Lookup.apply(self.linear(x)), 2.0)


scale_forward = custom_fwd(Scale.forward)
