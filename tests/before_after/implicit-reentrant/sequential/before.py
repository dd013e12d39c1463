import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential


class Encoder(nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, 16), nn.ReLU(inplace=True),
            nn.Linear(16, 16), nn.ReLU(inplace=True),
            nn.Linear(16, 1),
        )

    def forward(self, x):
        return checkpoint_sequential(self.layers, 2, x)


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
