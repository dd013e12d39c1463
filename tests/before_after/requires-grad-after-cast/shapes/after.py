# fixer: unsafe
import torch
from torch import nn


class A(nn.Module):
    def forward(self, x, weight):
        x = x.float()
        y = (x.to(dtype=weight.dtype))
        z = y.half(); w = z * 2
        if not x.requires_grad: pass
        v = w.to(torch.bfloat16)
        return v
