import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.no_grad()
def clean_view(model, x):
    result = model(x)
    torch.clear_autocast_cache()
    return result


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            loss = F.mse_loss(clean_view(model, x) + 1.0, model(x + 0.1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
