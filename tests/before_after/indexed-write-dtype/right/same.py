import torch
from torch import nn
from torch.nn import functional as F


def converted(x, layer: nn.Linear):
    mask = torch.gt(x[:, 0], 0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = torch.zeros(x.size(0), 4)
        out[:3] = F.linear(x, layer.weight)[:3]
        out[0] = F.linear(x, layer.weight)[0]
        out[mask] += F.linear(x[mask], layer.weight)
        out[mask] = 1.0
        out[mask] = F.linear(x[mask], layer.weight).float()
        out.copy_(F.linear(x, layer.weight))
        same = torch.zeros(x.size(0), 4, dtype=torch.bfloat16)
        same[mask] = F.linear(x[mask], layer.weight)
        like = x.new_zeros(x.size(0), 4)
        like[mask] = F.linear(x[mask], layer.weight)
        weighted = F.linear(x[mask], layer.weight) * F.softmax(x[mask][:, :4], -1)
        out[mask] = weighted
    return out, same, like


def outside(x, layer):
    mask = torch.gt(x[:, 0], 0)
    out = torch.zeros(x.size(0), 4)
    out[mask] = F.linear(x[mask], layer.weight)
    with torch.autocast("cpu", enabled=False):
        out[mask] = F.linear(x[mask], layer.weight)
    return out


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        mask = torch.gt(x[:, 0], 0)
        out = torch.zeros(x.size(0), 4)
        out[mask] = self.layer(x[mask])
        return out
