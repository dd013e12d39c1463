import torch
import torch.nn.functional as F

from monitor import Monitor


class Trainer:
    def __init__(self, model):
        self.model, self.monitor = model, Monitor()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.monitor.observe(norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
