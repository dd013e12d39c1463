import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda", rounds=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        optimizer.zero_grad()
        with torch.autocast(device_type, dtype=torch.bfloat16):
            state = torch.zeros(len(x), 1)
            for _ in range(rounds):
                with torch.no_grad():
                    update = model(x)
                    if update.norm() > 0:
                        break
                    state = state + update
            loss = F.mse_loss(model(x), state + 1.0)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
