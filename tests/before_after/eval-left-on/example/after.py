# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


def evaluate(model, x):
    model.eval()
    with torch.no_grad():
        return model(x).mean().item()


def train(batches, epochs=4):
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    modes = []
    model.train()
    for epoch in range(epochs):
        model.train()
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        modes.append(float(model.training))
        evaluate(model, batches[0][0])
    return modes
