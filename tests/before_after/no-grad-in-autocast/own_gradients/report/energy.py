import torch
from torch import nn


class EnergyModel(nn.Module):
    """Forces come out of the energy, so the graph is always needed."""

    @torch.enable_grad()
    def forward(self, x):
        return self.energy(x).sum(-1)

    def energy(self, x):
        raise NotImplementedError
