import torch
from torch.nn.utils import clip_grad_norm_


def prepare(scaler, optimizer):
    scaler.unscale_(optimizer)


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def before_clip(self):
        self.scaler.unscale_(self.optimizer)

    def train(self, loader):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            self.before_clip()
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def finetune(self, loader):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            prepare(self.scaler, self.optimizer)
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()


class Plugged(Trainer):
    def train(self, loader, hooks):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            hooks.after_backward(self)
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
