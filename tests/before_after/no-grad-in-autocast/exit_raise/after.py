# fixer: unsafe
import torch
import torch.nn as nn
import torch.nn.functional as F


class Unsure(Exception):
    pass


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast(device_type, dtype=torch.bfloat16):
            try:
                with torch.no_grad():
                    target = model(x)
                    torch.clear_autocast_cache()
                    if target.abs().max() < 1e6:
                        raise Unsure
            except Unsure:
                target = y
            loss = F.mse_loss(model(x), target + 1.0)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
