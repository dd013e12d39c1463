import torch
from lightning.fabric import Fabric


class Recorder:
    def setup(self, model, optimizer):
        return model, optimizer


def main(model, optimizer, loader, Fabric=Recorder):
    fabric = Fabric()
    model, optimizer = fabric.setup(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def inner(model, optimizer, loader):
    fabric = Recorder()
    model, optimizer = fabric.setup(model, optimizer)

    def step(fabric, batch):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()

    for batch in loader:
        step(None, batch)
