# fixer: unsafe
"""In the loop itself, under a condition, in a class, `train(False)`."""

import torch
import torch.nn.functional as F
from torch import nn


def in_the_loop(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for step, (inputs, targets) in enumerate(batches):
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                print(model(x).mean().item())


def by_argument(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train(True)
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        model.train(False)
        print(model(x).mean().item())


def every_few_steps(batches, x, path):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    best = 0
    for _ in range(2):
        model.train()
        for step, (inputs, targets) in enumerate(batches):
            optimizer.zero_grad()
            F.mse_loss(model(inputs), targets).backward()
            optimizer.step()
            if step % 10 == 0:
                score = evaluate(model, x)
                if score > best:
                    best = score
                    torch.save(model.state_dict(), path)


def evaluate(model, x):
    model.eval()
    with torch.no_grad():
        return model(x).mean().item()


class Learner:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def validate(self, x):
        self.model.eval()
        return self.model(x).mean().item()

    def fit(self, batches, x):
        self.model.train()
        for inputs, targets in batches:
            self.optimizer.zero_grad()
            F.mse_loss(self.model(inputs), targets).backward()
            self.optimizer.step()
            print(self.validate(x))
