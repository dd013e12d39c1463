import torch
from torch import nn


class RangeHead(nn.Module):
    """Logits are large: computed in the default type of the CPU, whatever the body runs in."""

    def __init__(self, width=8):
        super().__init__()
        self.proj = nn.Linear(width, 2)

    def forward(self, x):
        with torch.cpu.amp.autocast():
            return self.proj(x * 10000.0).float()
