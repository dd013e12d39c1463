import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        if self.training:
            x = F.dropout(x, 0.2)
        x = F.dropout(x, 0.2) if self.training else x
        return self.layer(self.noise(x))

    def noise(self, x):
        if not self.training:
            return x
        return F.dropout(x, 0.2)

    def always(self, x):
        rate = 0.2
        if not self.training:
            rate = 0
        return F.dropout(x, rate)


def evaluate(model, x):
    return model.eval()(x)
