# fixer: unsafe
import torch
import torch.nn.functional as F
from torch import nn


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            losses.append(loss.item())
    return model, losses
