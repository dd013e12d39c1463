# fixer: unsafe
import torch
import torch.nn.functional as F


def build_models(features=8):
    torch.manual_seed(3)
    return torch.nn.Linear(features, 1), torch.nn.Linear(features, 1)


def train(first, second, loader, scaler):
    opt_a = torch.optim.SGD(first.parameters(), lr=0.05)
    opt_b = torch.optim.SGD(second.parameters(), lr=0.05)
    losses = []
    for inputs, targets in loader:
        opt_a.zero_grad()
        opt_b.zero_grad()
        loss = F.mse_loss(first(inputs), targets) + F.mse_loss(second(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)
        scaler.update()
        losses.append(loss.item())
    return losses
