import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width)).to(device)

    def forward(self, x):
        return torch.cat([self.tokens.expand(len(x), -1, -1), x], dim=1)
