import torch
import torch.utils.checkpoint as cp
from torch import nn


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = cp.checkpoint(layer, x)
        return x
