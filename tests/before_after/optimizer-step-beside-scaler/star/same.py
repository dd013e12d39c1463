from tricks import *


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimizer.step()
        scaler.update()
