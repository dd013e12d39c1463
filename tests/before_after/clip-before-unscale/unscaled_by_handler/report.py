"""An event handler, or a context manager, may unscale already."""

import torch
from torch.nn.utils import clip_grad_norm_


def build(engine, model, optimizer):
    scaler = torch.amp.GradScaler("cuda")

    def update(engine, batch):
        scaler.scale(model(batch)).backward()
        engine.fire_event("backward")
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    @engine.on("backward")
    def unscale():
        scaler.unscale_(optimizer)

    return update


class Managed:
    def __init__(self, model, optimizer, precision):
        self.model, self.optimizer, self.precision = model, optimizer, precision
        self.scaler = torch.amp.GradScaler("cuda")

    def train(self, loader):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            with self.precision.clipping():
                clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
