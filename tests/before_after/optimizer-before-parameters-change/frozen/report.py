import torch
from torch import nn


def train(model, batches, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.head = nn.Linear(model.head.in_features, classes)
    model.head.weight.requires_grad_(False)
    for x, y in batches:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
