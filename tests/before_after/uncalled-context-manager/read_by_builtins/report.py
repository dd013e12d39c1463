import torch
import torch.nn.functional as F


class Distiller:
    def named(self, x):
        self.optimizer.zero_grad()
        with torch.no_grad:
            target = self.teacher(x)
            loss = F.mse_loss(self.student(x), target)
        backward = getattr(loss, "backward")
        backward()
        self.optimizer.step()

    def summed(self, batches):
        self.optimizer.zero_grad()
        with torch.no_grad:
            losses = [self.student(x).mean() for x in batches]
        total = sum(losses)
        total.backward()
        self.optimizer.step()
