from collections import namedtuple

from torch import nn
from torch.nn.modules.loss import _Loss

Explained = namedtuple("Explained", "data worst")


class Explain(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, prediction, target):
        return Explained(self.base(prediction, target), (prediction - target).abs().max().item())


class Experiment(nn.Module):
    def explain(self):
        for name, child in list(self.named_children()):
            if isinstance(child, _Loss):
                setattr(self, name, Explain(child))
        return self
