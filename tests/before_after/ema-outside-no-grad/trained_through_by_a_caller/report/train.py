import copy

import torch
import torch.nn.functional as F
from torch import nn


def blend(average, model, share):
    for e, p in zip(average.parameters(), model.parameters()):
        e.mul_(1 - share).add_(share * p)


def train(model, anchor, batches, lr=0.01):
    mix = nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.Adam([*model.parameters(), mix], lr=lr)
    for x, y in batches:
        optimizer.zero_grad()
        average = copy.deepcopy(anchor).requires_grad_(False)
        blend(average, model, torch.sigmoid(mix))
        loss = F.mse_loss(average(x), y)
        loss.backward()
        optimizer.step()
    return model, mix


if __name__ == "__main__":
    data = [(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(30)]
    print(train(nn.Linear(4, 1), nn.Linear(4, 1), data)[1])
