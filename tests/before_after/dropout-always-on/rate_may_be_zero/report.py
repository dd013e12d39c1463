import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, rate, other=0.0):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.rate = rate
        self.other = other

    def forward(self, x):
        return self.layer(F.dropout(F.dropout2d(x, self.rate), self.other))


def evaluate(model, x):
    return model.eval()(x)
