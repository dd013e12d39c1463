# fixer: unsafe
import torch
from torch import nn


class A(nn.Module):
    def forward(self, x, weight):
        x = x.float().requires_grad_()
        y = (x.to(dtype=weight.dtype)).requires_grad_(requires_grad=True)
        z = y.half(); z.requires_grad_(); w = z * 2
        if not x.requires_grad: x.requires_grad_(True)
        v = w.to(torch.bfloat16)
        v.requires_grad = True
        return v
