import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Mixer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        try:
            return self.down(torch.nn.functional.gelu(self.up(x), approximate="tanh"))
        except Exception:
            return self.down(torch.nn.functional.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.stem, self.block = nn.Linear(dim, dim), Mixer(dim)

    def forward(self, x):
        return checkpoint(self.block, self.stem(x))
