import torch
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer, self.hooks = model, optimizer, hooks
        self.scaler = torch.amp.GradScaler("cuda")

    def run(self, event):
        for hook in self.hooks:
            hook(self, event)

    def train(self, loader):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            self.run("backward")
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
