# fixer: unsafe strategy=narrow-region
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            after = F.mse_loss(model(x), y)
            losses.append(loss.item() - after.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
