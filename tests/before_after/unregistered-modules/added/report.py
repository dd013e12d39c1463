import torch
from torch import nn


class Mapping(nn.Module):
    def __init__(self, width=16, domains=2):
        super().__init__()
        self.shared = nn.Linear(width, width)
        self.unshared = []
        for _ in range(domains):
            self.unshared += [nn.Sequential(nn.ReLU(), nn.Linear(width, width))]

    def forward(self, z):
        h = self.shared(z)
        return torch.stack([layer(h) for layer in self.unshared], dim=1)
