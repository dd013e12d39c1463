# fixer: unsafe
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, mask=None):
        x = self.linear(x)
        return x if mask is None else x * mask


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.block = Block(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embed(x)
        x = checkpoint(self.block, x, mask=x > 0, use_reentrant=False)
        return self.head(x)


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
