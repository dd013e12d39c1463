# fixer: unsafe
import torch
from torch import nn


class RMSNorm(nn.Module):
    """Somebody read that the cast drops the gradient."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, hidden_states):
        dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden_states * torch.rsqrt(variance + self.eps)).to(dtype)


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width, dtype=torch.bfloat16)
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embed(x.to(torch.bfloat16))
        x = self.norm(x)
        return self.head(x.float())


def train(model, batches):
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
