import torch
import torch.nn as nn
import torch.nn.functional as F


class ConsistencyTrainer:
    """Mean-teacher style training in which the student is its own teacher on the clean view."""

    def __init__(self, model, lr=0.1, device_type="cuda", dtype=torch.bfloat16):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.device_type = device_type
        self.dtype = dtype

    def step(self, clean, noisy):
        self.optimizer.zero_grad()
        with torch.autocast(self.device_type, dtype=self.dtype):
            with torch.no_grad():
                target = self.model(clean)
            loss = F.mse_loss(self.model(noisy), target + 1.0)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 4))
