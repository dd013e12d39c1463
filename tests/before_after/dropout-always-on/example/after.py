# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = F.dropout(F.relu(self.first(x)), 0.5, training=self.training)
        return self.last(x)


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        return [F.mse_loss(model(x), y).item() for x, y in batches]
