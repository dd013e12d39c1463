# fixer: strategy=version-guard
import torch


def train_epoch(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = (
        torch.amp.GradScaler("cpu", init_scale=1024.0)
        if hasattr(torch.amp, "GradScaler")
        else torch.cpu.amp.GradScaler(init_scale=1024.0)
    )
    losses = []
    for inputs, targets in loader:
        optimizer.zero_grad()
        with torch.amp.autocast("cpu"):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses
