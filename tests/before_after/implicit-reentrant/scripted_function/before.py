# fixer: strategy=preserve
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


@torch.jit.script
def gated(x, gate):
    return x * torch.sigmoid(gate) + torch.tanh(gate)


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2 * width)

    def forward(self, x):
        value, gate = self.linear(x).chunk(2, dim=-1)
        return gated(value, gate)


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.gate = Gate(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(checkpoint(self.gate, self.embed(x)))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

