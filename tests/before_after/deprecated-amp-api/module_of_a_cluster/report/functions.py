import torch
from torch.cuda.amp import custom_bwd, custom_fwd


class StraightThrough(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x, levels):
        return torch.round(x * levels) / levels

    @staticmethod
    @custom_bwd
    def backward(ctx, grad):
        return grad, None
