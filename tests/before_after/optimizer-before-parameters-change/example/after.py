# fixer: unsafe
import torch
from torch import nn


def train(model, batches, classes):
    model.head = nn.Linear(model.head.in_features, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
