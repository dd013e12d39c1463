import torch


def train(model, x, y):
    loss = torch.nn.functional.mse_loss(input=model(x), target=y)
    loss.backward()


def train_twice(model, x, y):
    loss = torch.nn.functional.mse_loss(input=model(x), target=y)
    torch.stack([loss, loss]).to(device=x.device).sum().backward()
