import torch
from torch import nn


class SelfConditioned(nn.Module):
    """A denoiser that sees its own first guess."""

    def __init__(self, features=8):
        super().__init__()
        self.model = nn.Linear(2 * features, features)

    def guess(self, x):
        return self.model(torch.cat([x, torch.zeros_like(x)], dim=-1))

    def losses(self, x):
        with torch.no_grad():
            first = self.guess(x)
            first.detach_()
            torch.clear_autocast_cache()
        out = self.model(torch.cat([x, first], dim=-1))
        return (out - x - 1.0).pow(2).mean()

    def training_losses(self, x):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            return self.losses(x)


def build_model(features=8):
    torch.manual_seed(3)
    return SelfConditioned(features)


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        loss = model.training_losses(x.to(device_type))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
