import torch
import torch.nn as nn
import torch.nn.functional as F


class Prototypes(nn.Module):
    def __init__(self, features=8, size=4):
        super().__init__()
        torch.manual_seed(3)
        self.weights = nn.Parameter(torch.randn(features, size))
        self.net = nn.Linear(features, size)

    @torch.no_grad()
    def scores(self, x): return x @ self.weights

    @torch.no_grad()
    def both(self, x):
        hidden = self.net(x)
        if hidden.isnan().any():
            return hidden, None
        return (
            hidden,  # first
            self.net(hidden.new_ones(x.shape)),
        )

    def loss(self, x):
        hidden, ones = self.both(x)
        return F.mse_loss(self.scores(x) + hidden + ones, x @ self.weights + self.net(x))


def build_model(features=8):
    return Prototypes(features)


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            loss = model.loss(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
