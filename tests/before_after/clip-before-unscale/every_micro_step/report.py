import torch
from torch.cuda.amp import GradScaler


def train(model, optimizer, loader, accumulate):
    scaler = GradScaler(enabled=True)
    for step, batch in enumerate(loader):
        scaler.scale(model(batch)).backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (step + 1) % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def nested(model, optimizer, loader):
    scaler = GradScaler()
    for batches in loader:
        for batch in batches:
            scaler.scale(model(batch)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
