import torch
from torch.utils.checkpoint import checkpoint

from ops import *  # isort: skip


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)
        return x
