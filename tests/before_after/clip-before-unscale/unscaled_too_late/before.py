import torch


def train(model, optimizer, loader, device="cuda"):
    scaler = torch.amp.GradScaler(device)
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
