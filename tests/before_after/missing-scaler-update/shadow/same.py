from torch.cuda.amp import GradScaler


def train(model, optimizer, loader, GradScaler):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
