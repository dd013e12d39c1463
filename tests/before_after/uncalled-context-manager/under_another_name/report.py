import torch
import torch.nn.functional as F


class Distiller:
    def step(self, x):
        self.optimizer.zero_grad()
        with torch.no_grad:
            target = self.teacher(x)
            loss = F.mse_loss(self.student(x), target)
        total = 0
        total += loss
        for each in [total]:
            each.backward()
        self.optimizer.step()
