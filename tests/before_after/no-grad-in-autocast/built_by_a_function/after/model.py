import torch
import torch.nn.functional as F
from layers import chained


class Remembering:
    def __init__(self, optimizer):
        self.encoder = chained(torch.nn.Linear(8, 8), torch.nn.ReLU())
        self.optimizer = optimizer

    def step(self, x, y):
        self.optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                before = self.encoder(x)
                torch.clear_autocast_cache()
            loss = F.mse_loss(self.encoder(x), before + y.cuda())
        loss.backward()
        self.optimizer.step()
