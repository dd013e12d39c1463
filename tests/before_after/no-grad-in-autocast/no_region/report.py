import torch
import torch.nn as nn
import torch.nn.functional as F


class Denoiser(nn.Module):
    """Self-conditioning; the region is opened somewhere around its `forward`."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def guess(self, x):
        return self.model(x)

    def forward(self, x):
        with torch.no_grad():
            first = self.guess(x)
        return F.mse_loss(self.model(x + first), x)


def train(batches, optimizer, device_type="cuda"):
    denoiser = Denoiser(nn.Linear(8, 8))
    for x in batches:
        with torch.autocast(device_type):
            loss = denoiser(x)
        loss.backward()
        optimizer.step()
