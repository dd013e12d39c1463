from torch import nn


def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def wanted(parts, x):
    """What the slow side says."""
    return parts["slow"](x).softmax(-1)
