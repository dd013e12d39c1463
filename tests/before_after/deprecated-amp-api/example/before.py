# fixer: target=torch==2.6
import torch
from torch.cpu.amp import autocast, GradScaler


def build_model(features=8, hidden=16):
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(features, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))


def train_epoch(model, loader, criterion, use_amp=True):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = GradScaler(1024.0, enabled=use_amp)
    losses = []
    for inputs, targets in loader:
        optimizer.zero_grad()
        with autocast(use_amp, torch.bfloat16):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


def evaluate(model, inputs):
    with torch.no_grad(), autocast(enabled=False):
        return model(inputs)
