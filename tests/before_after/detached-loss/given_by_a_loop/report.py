import torch
import torch.nn.functional as F
from torch import nn


def differentiate(loss):
    loss.detach().backward()


def train(pieces, h):
    cell = nn.GRU(16, 16)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)
    for x, y in pieces:
        optimizer.zero_grad()
        out, h = cell(x, h)
        differentiate(F.mse_loss(out, y))
        optimizer.step()
