from tricks import *


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
