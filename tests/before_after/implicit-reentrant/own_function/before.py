# fixer: strategy=preserve
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class ClippedExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clamp(max=4).exp()
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x, _) = ctx.saved_tensors
        (_, out) = ctx.saved_tensors
        return grad * out * (x < 4)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return ClippedExp.apply(self.linear(x))


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.block = Block(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(checkpoint(self.block, self.embed(x)))


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

