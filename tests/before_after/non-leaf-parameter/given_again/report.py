import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width)) * 0.02
        self.reset()

    def reset(self):
        self.tokens = nn.Parameter(self.tokens.detach())
