import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, x):
    with torch.no_grad():
        target = model(x)
    return F.mse_loss(model(x + 0.1), target)
