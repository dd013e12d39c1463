import torch
import torch.nn as nn
import torch.nn.functional as F


def confident(model, batches, limit=1e6):
    """Batches with the model's own predictions, until it overflows."""
    for x, _ in batches:
        with torch.no_grad():
            target = model(x)
            torch.clear_autocast_cache()
            if target.abs().max() > limit:
                return
        yield x, target


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with torch.autocast(device_type, dtype=torch.bfloat16):
        for x, target in confident(model, batches):
            loss = F.mse_loss(model(x + 0.1), target + 1.0)
            optimizer.zero_grad()
            loss.backward()
            losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
