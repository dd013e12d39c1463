from torch import nn

from ops import checkpoint, gelu


class Net(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = gelu(checkpoint(layer, x))
        return x
