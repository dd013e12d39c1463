import torch
from torch.autograd import Variable


def train(model, x, y):
    loss = torch.nn.functional.mse_loss(input=model(x), target=y)
    Variable(data=loss, requires_grad=True).backward()


def train_twice(model, x, y):
    loss = torch.nn.functional.mse_loss(input=model(x), target=y)
    torch.tensor(data=[loss, loss], device=x.device).sum().backward()
