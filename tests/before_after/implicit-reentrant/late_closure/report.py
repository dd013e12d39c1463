import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(lambda h: layer(h), x)
        for i in range(3):
            scale = 1.0 / (i + 1)

            def scaled(h):
                return self.layers[0](h) * scale

            x = checkpoint(scaled, x)
        x = x + checkpoint(lambda: torch.tanh(self.layers[0](x)))
        return torch.stack([checkpoint(lambda h: layer(h), x) for layer in self.layers])
