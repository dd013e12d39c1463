import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        loss.backward()
        scaler.step(optimizer) if scaler else optimizer.step()
