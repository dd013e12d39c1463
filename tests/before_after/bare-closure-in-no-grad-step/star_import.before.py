from torch import *
from torch.optim import *


class Signed(Optimizer):
    @no_grad()
    def step(self, closure=None):
        loss = closure()
        return loss
