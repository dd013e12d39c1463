import torch
from torch.nn import functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        size = loss.numpy()
        print(torch.as_tensor(size) + 1)
