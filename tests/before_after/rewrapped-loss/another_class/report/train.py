import torch
import torch.nn.functional as F

from estimated import without_graphs


@without_graphs
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss = torch.tensor(loss, requires_grad=True)
        loss.backward()
        self.optimizer.step()
