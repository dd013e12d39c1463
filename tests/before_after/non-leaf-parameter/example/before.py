# fixer: unsafe
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.randn(width)) * 0.1

    def forward(self, x):
        return self.linear(x) * self.scale
