import torch
import torch.nn as nn
import torch.nn.functional as F


class Recycler(nn.Module):
    """Feeds its output back; only the last round is trained."""

    def __init__(self, features=8):
        super().__init__()
        torch.manual_seed(3)
        self.trunk = nn.Linear(features, features)

    def loss(self, x, rounds=3):
        state = torch.zeros_like(x)
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            for number in range(rounds):
                is_last = number == rounds - 1
                with torch.set_grad_enabled(self.training and is_last):
                    state = self.trunk(x + state)
            return F.mse_loss(state, x + 1.0)


def build_model(features=8):
    return Recycler(features)


def train(model, batches, device_type="cuda"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, _ in batches:
        loss = model.loss(x.to(device_type))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
