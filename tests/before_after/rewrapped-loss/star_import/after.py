import torch
from torch import *
from torch.nn import functional as F


def train(model, x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()


def train_both(model, x, y):
    torch.stack([F.mse_loss(model(x), y), F.l1_loss(model(x), y)]).sum().backward()
