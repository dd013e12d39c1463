import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def body(self, x):
        found = [x] if self.training else self.found
        found.append(self.linear(x))
        return torch.stack(found).sum(0)

    def forward(self, x):
        return checkpoint(self.body, x)
