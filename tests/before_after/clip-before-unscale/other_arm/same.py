import torch
from torch.cuda.amp import GradScaler


def train(model, optimizer, loader, use_amp, max_norm):
    scaler = GradScaler()
    for batch in loader:
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
