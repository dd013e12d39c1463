from torch import nn

from energy import EnergyModel


class Potential(EnergyModel):
    def __init__(self, width=8):
        super().__init__()
        self.lin1 = nn.Linear(width, 16, bias=False)
        self.lin2 = nn.Linear(16, 4, bias=False)

    def energy(self, x):
        return self.lin2(self.lin1(x).tanh())
