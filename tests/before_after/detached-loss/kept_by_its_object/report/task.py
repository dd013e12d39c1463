import torch
import torch.nn.functional as F

from weighting import Weighted


class Task(Weighted):
    def __init__(self, width=8):
        self.model = torch.nn.Linear(width, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, x, y):
        self.optimizer.zero_grad()
        self.loss = (self.weight * F.mse_loss(self.model(x), y)).detach()
        self.loss.backward()
        self.optimizer.step()
