import torch
import torch.nn.functional as F


def shadowed(model, x, y, torch):
    loss = F.mse_loss(model(x), y)
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()


def splat(model, x, y, *options):
    loss = F.mse_loss(model(x), y)
    torch.tensor(loss, *options).backward()


def keyword(model, x, y, **options):
    loss = F.mse_loss(model(x), y)
    torch.tensor(loss, **options).backward()
