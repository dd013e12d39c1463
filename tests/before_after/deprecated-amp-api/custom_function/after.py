# fixer: target=torch==2.4.1
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return grad * ctx.factor, None


class Lookup(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return grad


class Head(torch.nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.linear = torch.nn.Linear(features, 1)

    def forward(self, x):
        return Scale.apply(Lookup.apply(self.linear(x)), 2.0)


scale_forward = torch.amp.custom_fwd(Scale.forward, device_type="cuda")
