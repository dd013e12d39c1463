import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        if use_amp:
            scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
