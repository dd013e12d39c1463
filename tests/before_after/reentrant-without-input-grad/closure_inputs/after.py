# fixer: unsafe
from functools import partial

import torch
import torch.utils.checkpoint as cp
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def unpack(self, inputs):
        return torch.tanh(self.third(inputs["hidden"]))

    def forward(self, x):
        h = self.embed(x)
        a = cp.checkpoint(lambda: torch.tanh(self.first(h)), use_reentrant=False)
        b = cp.checkpoint(partial(self.second, input=h), use_reentrant=False, preserve_rng_state=False)
        c = cp.checkpoint(self.unpack, {"hidden": h}, use_reentrant=False)
        return self.head(h + a + b + c)


def train(model, batches):
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
