import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.patch_embed = nn.Linear(width, width)
        self.pos_embed = nn.Parameter(torch.zeros(1, width))
        self.pos_embed.requires_grad = False
        # self.patch_embed.requires_grad_(False)
        self.block = nn.Linear(width, width)

    def forward(self, x):
        return checkpoint(self.block, self.patch_embed(x) + self.pos_embed, use_reentrant=True)
