import torch.nn.functional as F
from torch import nn
from somewhere import *


def noisy(x):  # no module: nobody knows who trains
    return F.dropout(x, 0.1)


class Corrupt:
    def __call__(self, x):
        return F.dropout(x, 0.1)


class Shadowed(nn.Module):
    def forward(self, x, F):  # shadow: a parameter of that name
        return F.dropout(x, 0.1)

    def star(self, x):  # star: nobody knows what the import brings
        return dropout(x, 0.1)

    def splat(self, x, *args):  # splat: the third may be among them
        return F.dropout(x, *args)

    def keyword(self, x, **kwargs):  # keyword: `training` may be among them
        return F.dropout(x, **kwargs)

    @staticmethod
    def outside(x):
        return F.dropout(x, 0.1)

    def training_step(self, batch, index):  # runs in training only
        return F.dropout(batch, 0.1).sum()


def evaluate(model, x):
    return model.eval()(x)
