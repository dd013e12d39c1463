import torch
import torch.nn as nn
import torch.nn.functional as F


def pairs(model, batches):
    for x, _ in batches:
        with torch.no_grad():
            target = model(x)
            yield x, target


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with torch.autocast(device_type, dtype=torch.bfloat16):
        for x, target in pairs(model, batches):
            with torch.enable_grad():
                loss = F.mse_loss(model(x + 0.1), target + 1.0)
            optimizer.zero_grad()
            loss.backward()
            losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
