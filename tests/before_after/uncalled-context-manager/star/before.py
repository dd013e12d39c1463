from torch import *
from torch import nn


def evaluate(net: nn.Module, x):
    with no_grad:
        return net(x)
