import torch
from accelerate import Accelerator
from sklearn.preprocessing import MinMaxScaler


class Counter:
    def __init__(self):
        self.scaler = MinMaxScaler()

    def step(self, engine):
        self.scaler.fit(engine)
        engine.scaler.step(engine.optimizer)


def half_known(scaler, optimizer):
    scaler.step(optimizer)


def never_made_here(model, scaler, optimizer, loader):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)


def prepared(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    for batch in loader:
        accelerator.backward(model(batch))
        accelerator.scaler.step(optimizer)
