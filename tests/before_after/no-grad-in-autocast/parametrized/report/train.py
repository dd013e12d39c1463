import torch
import torch.nn.functional as F

from builder import mlp


class Consistency:
    def __init__(self, width=8):
        self.model = mlp([width, 16, width])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, clean, noisy):
        self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                target = self.model(clean)
            loss = F.mse_loss(self.model(noisy), target + 1.0)
        loss.backward()
        self.optimizer.step()
        return loss.detach()
