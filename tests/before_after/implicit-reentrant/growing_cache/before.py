# fixer: strategy=preserve
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Memory(nn.Module):
    """Attends to what earlier batches left behind: the recomputation sees one more entry than the first run."""

    def __init__(self, width):
        super().__init__()
        self.key = nn.Linear(width, width)
        self.cache = []

    def forward(self, x):
        self.cache.append(x.detach())
        seen = torch.cat(self.cache[-8:])
        weights = torch.softmax(self.key(x) @ seen.T, dim=-1)
        return x + weights @ seen


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.memory = Memory(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(checkpoint(self.memory, self.embed(x)))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

