import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    average = build_model()
    for mine, own in zip(average.parameters(), model.parameters()):
        mine.data.copy_(0.5 * own.data)
    losses = []
    for x, _ in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            own = model(x)
            for mine, theirs in zip(model.parameters(), average.parameters()):
                mine.data.copy_(theirs.data)
            torch.clear_autocast_cache()
            with torch.no_grad():
                base = model(x)
            loss = F.mse_loss(own, base + 1.0)
        losses.append(loss.item())
        F.mse_loss(model(x), base.float()).backward()
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
