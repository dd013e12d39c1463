import torch
import torch.nn.functional as F
from torch import nn


class Slots(nn.Module):
    def __init__(self, slots=4, width=16):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(slots, width))
        self.keys = nn.Linear(width, width)

    def forward(self, x):
        return torch.einsum("sw,blw->bsl", self.queries, self.keys(x))


def train(model: Slots, optimizer, batches):
    for x, owner in batches:
        optimizer.zero_grad()
        scores = model(x)
        loss = F.cross_entropy(F.softmax(scores, dim=2), owner)
        loss = loss + F.cross_entropy(F.softmax(scores, dim=-1), owner)
        loss.backward()
        optimizer.step()
