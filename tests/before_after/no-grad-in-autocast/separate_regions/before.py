# fixer: strategy=separate-regions
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        # teach it its own view
        with torch.autocast(device_type, dtype=torch.bfloat16):
            with torch.no_grad():  # no graph
                target = model(x)
            loss = F.mse_loss(model(x + 0.1), target + 1.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
