# fixer: unsafe
import torch
from torch.utils.checkpoint import checkpoint


def forward(self, x):
    x = x + checkpoint(lambda: torch.tanh(self.first(x)), use_reentrant=True)
    for layer in self.layers:

        def run():
            return layer(x)

        y = checkpoint(run, use_reentrant=True)
    return x + y
