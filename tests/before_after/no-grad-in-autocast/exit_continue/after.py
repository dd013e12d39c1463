import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with torch.autocast(device_type, dtype=torch.bfloat16):
        for number, (x, y) in enumerate(batches):
            with torch.no_grad():
                guess = model(x)
                torch.clear_autocast_cache()
                if number == 0:  # too easy to learn from
                    continue
                target = guess.float() + y
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), target)
            loss.backward()
            losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
