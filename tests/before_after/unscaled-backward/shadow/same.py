import torch


def train(model, torch, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
