from tricks import *


def train(model, optimizer, loader):
    scaler = GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
