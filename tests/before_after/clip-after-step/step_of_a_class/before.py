# fixer: unsafe
import torch
from torch import nn


class Trainer:
    def __init__(self, model, loader, lr=1e-3):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        return loss.item()

    def train_epoch(self):
        return [self.train_step(x, y) for x, y in self.loader]

    def fit(self, epochs):
        for _ in range(epochs):
            print(self.train_epoch())
