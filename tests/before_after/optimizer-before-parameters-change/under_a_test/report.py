import torch
from torch import nn


def train(model, batches, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if model.head.out_features != classes:
        model.head = nn.Linear(model.head.in_features, classes)
    for x, y in batches:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
