from torch import *
from torch.nn import functional as F


def train(model, x, y):
    loss = F.mse_loss(model(x), y)
    loss = tensor(loss, requires_grad=True)
    loss.backward()


def train_both(model, x, y):
    tensor([F.mse_loss(model(x), y), F.l1_loss(model(x), y)]).sum().backward()
