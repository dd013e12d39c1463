import torch
from torch import nn


class Trainer:
    def __init__(self, model, device_type="cuda"):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.device_type = device_type

    def update(self, x, y):
        loss = (self.model(x) - y).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def epoch(self, batches):
        with torch.autocast(self.device_type, dtype=torch.bfloat16):
            return [self.update(x, y) for x, y in batches]

    def twice(self, x, y):
        with torch.autocast(self.device_type, dtype=torch.bfloat16):
            first = self.update(x, y)
            return [first, self.update(x, y)]


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))


def train(model, batches, device_type="cuda"):
    trainer = Trainer(model, device_type)
    return [loss for x, y in batches for loss in trainer.twice(x, y)]
