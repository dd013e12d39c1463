import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.ones(width).float().requires_grad_()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x, ids, noise=None):
        h = x.to(torch.float32)
        ids = ids.to(torch.int64)
        device = x.to("cuda")
        device.requires_grad_()
        noise = torch.randn(4)
        noise.requires_grad_()
        h.requires_grad_(False)
        self.weight.requires_grad_()
        return self.weight * h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True)).type_as(x)


def leaf(values):
    values = values.float()
    values.requires_grad_()
    return values
