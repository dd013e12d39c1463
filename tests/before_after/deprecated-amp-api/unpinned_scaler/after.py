import torch
from torch.cuda.amp import GradScaler


def fit(model, loader, optimizer):
    scaler = GradScaler()
    for x in loader:
        with torch.amp.autocast("cuda"):
            loss = model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
