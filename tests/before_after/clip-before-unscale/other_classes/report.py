"""A scaler that comes with the arguments: what it is, callers decide.

Run: `NoScaler().unscale_` raises `AttributeError: 'NoScaler' object has no attribute 'unscale_'`.
"""

import torch
from torch.nn.utils import clip_grad_norm_


class NoScaler:
    """For training without a scale."""

    def scale(self, loss):
        return loss

    def step(self, optimizer):
        optimizer.step()

    def update(self):
        pass


def train(model, optimizer, loader, scaler):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def main(model, optimizer, loader, amp):
    if amp:
        train(model, optimizer, loader, torch.amp.GradScaler("cuda"))
    else:
        train(model, optimizer, loader, NoScaler())


def nobody_in_sight(model, optimizer, loader, scaler):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


class Given:
    def __init__(self, model, optimizer, loss_scaler):
        self.model, self.optimizer, self.loss_scaler = model, optimizer, loss_scaler

    def train(self, loader):
        for batch in loader:
            self.loss_scaler.scale(self.model(batch)).backward()
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.loss_scaler.step(self.optimizer)
            self.loss_scaler.update()
