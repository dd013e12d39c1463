import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.p = 0.5

    def forward(self, x):
        return self.layer(F.dropout(x, self.p))

    def noisy(self, x):
        return F.dropout(x, 0.5)


def quiet(model):
    model.p = 0.0
