import torch
from torch.cuda.amp import GradScaler


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if norm > 1e6:
            optimizer.zero_grad()
            scaler.update()
            continue
        scaler.step(optimizer)
        scaler.update()
