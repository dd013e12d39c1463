import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward() if scaler else loss.backward()
        optimizer.step()
