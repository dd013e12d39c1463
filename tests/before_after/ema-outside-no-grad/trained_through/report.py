import copy

import torch
import torch.nn.functional as F
from torch import nn


def train(batches, decay=0.9, lr=0.1):
    """Trains through the average: the average is what predicts, and its loss moves the weights."""
    model = nn.Linear(8, 1)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        for e in average.parameters():
            e.detach_()  # the updates of the rounds before are constants
        for e, p in zip(average.parameters(), model.parameters()):
            e.mul_(decay).add_(p, alpha=1 - decay)
        loss = F.mse_loss(average(x), y)
        loss.backward()  # reaches `model` through the update above
        optimizer.step()
        losses.append(loss.item())
    return model, average, losses


if __name__ == "__main__":
    torch.manual_seed(0)
    w = torch.randn(8, 1)
    xs = [torch.randn(16, 8) for _ in range(200)]
    _, _, losses = train([(x, x @ w) for x in xs])
    print(losses[0], losses[-1])
