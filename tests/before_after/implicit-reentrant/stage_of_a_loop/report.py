# fixer: target=torch==2.6.0
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    stage = 0

    def __init__(self, width=16, depth=3):
        super().__init__()
        self.stages = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def run_stage(self, x):
        return self.stages[self.stage](x) + x

    def forward(self, x):
        for self.stage in range(len(self.stages)):
            x = checkpoint(self.run_stage, x)
        return x
