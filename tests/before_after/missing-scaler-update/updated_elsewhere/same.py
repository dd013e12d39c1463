import torch


class Base:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def after_step(self):
        self.scaler.update()


class Trainer(Base):
    def train_step(self, batch):
        self.scaler.scale(self.model(batch)).backward()
        self.scaler.step(self.optimizer)
        self.after_step()
