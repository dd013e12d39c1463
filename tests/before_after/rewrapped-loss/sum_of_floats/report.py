"""A sum of numbers has no graph, and no `backward`: the cut lies where the losses become numbers."""

import torch
import torch.nn.functional as F


def train(model, optimizer, batches):
    losses = []
    for x, y in batches:
        losses.append(F.mse_loss(model(x), y).item())
    total = torch.tensor(sum(losses), requires_grad=True)
    total.backward()
    optimizer.step()


def weighted(model, x, y):
    parts = [float(F.mse_loss(model(x), y)), float(F.l1_loss(model(x), y))]
    loss = torch.tensor(sum(parts), requires_grad=True)
    loss.backward()
