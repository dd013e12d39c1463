import torch
from torch import nn


class Right(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Parameter(torch.randn(width) * 0.1)
        self.b = nn.Parameter(torch.randn(width)).cpu()
        self.c = nn.Parameter(torch.randn(width)).float()
        self.d = nn.Parameter(torch.randn(width), requires_grad=False) * 2
        self.e = nn.Parameter(torch.randn(width)).detach() * 2
        raw = nn.Parameter(torch.randn(width))
        self.raw = raw
        scaled = nn.Parameter(torch.randn(width)) * 0.1
        self.f = nn.Parameter(scaled)

    def forward(self, x):
        return x * self.a * self.raw


class Settings:
    def __init__(self):
        self.start = nn.Parameter(torch.zeros(3)) * 2
