from project.training import *


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
