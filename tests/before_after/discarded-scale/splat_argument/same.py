import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        losses = model(batch)
        scaler.scale(*losses)
        losses[0].backward()
        scaler.step(optimizer)
        scaler.update()
