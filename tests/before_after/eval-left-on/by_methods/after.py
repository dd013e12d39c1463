# fixer: unsafe
"""Each round steps and evaluates by methods, and by functions; a model that is made is in training mode."""

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()

    @torch.no_grad()
    def validate(self, batches):
        self.model.train(False)
        return sum(F.cross_entropy(self.model(x), y).item() for x, y in batches)

    def fit(self, batches, others):
        self.model.train()
        for _ in range(8):
            self.model.train()
            for x, y in batches:
                self.step(x, y)
            print(self.validate(others))


def train_epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    return sum(F.cross_entropy(model(x), y).item() for x, y in batches)


def main(batches, others):
    model = nn.Sequential(nn.Linear(6, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 2)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(8):
        model.train()
        train_epoch(model, optimizer, batches)
        print(evaluate(model, others))
