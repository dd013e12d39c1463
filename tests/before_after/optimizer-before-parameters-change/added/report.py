import torch
from torch import nn


def train(model, batches, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.head = nn.Linear(model.head.in_features, classes)
    optimizer.add_param_group({"params": model.head.parameters(), "lr": 1.0})
    for x, y in batches:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
