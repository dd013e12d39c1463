import torch


def train(model, optimizer, loader):
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
