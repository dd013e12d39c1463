import torch
from torch.cuda.amp import GradScaler, autocast


def fit(model, loader, optimizer):
    scaler = GradScaler()
    for x in loader:
        with autocast():
            loss = model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
