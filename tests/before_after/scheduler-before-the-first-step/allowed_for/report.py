import torch
import torch.nn.functional as F
from torch import nn

LR = 0.1
GAMMA = 0.8


def train(batches, features=16, epochs=10):
    model = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=LR / GAMMA)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=GAMMA)
    rates = []
    for epoch in range(epochs):
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
    return model, rates
