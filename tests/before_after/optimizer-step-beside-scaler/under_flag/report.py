import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        optimizer.step()
