import torch
import torch.nn as nn
import torch.nn.functional as F


class Loss(nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.projection = nn.Parameter(torch.eye(features))

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def consistency(self, x):
        with torch.no_grad():
            target = x @ self.projection
            torch.clear_autocast_cache()
        return F.mse_loss((x + 0.1) @ self.projection, target + 1.0)


def build_model(features=8):
    return Loss(features)


def train(model, batches, device_type="cpu"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        loss = model.consistency(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
