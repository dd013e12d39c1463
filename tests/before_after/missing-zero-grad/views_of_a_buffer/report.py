"""Gradients are views of one buffer, which is set to zero as a whole."""

import torch
import torch.nn.functional as F
from torch import nn


def flatten(model, buffer):
    offset = 0
    for parameter in model.parameters():
        parameter.grad = buffer[offset : offset + parameter.numel()].view_as(parameter)
        offset += parameter.numel()


def train(batches):
    model = nn.Linear(8, 1)
    buffer = torch.zeros(9)
    flatten(model, buffer)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        buffer.zero_()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
