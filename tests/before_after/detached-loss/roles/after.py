import torch
from accelerate import Accelerator
from torch import autograd


def with_scaler(model, criterion, optimizer, scaler, x, y):
    loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def with_accelerator(model, x):
    accelerator = Accelerator()
    loss = model(x).mean()
    accelerator.backward(loss / 4)


def with_autograd(model, x, weights):
    loss = model(x).mean()
    torch.autograd.backward(loss, retain_graph=True)
    autograd.backward((loss * weights).sum())


def with_a_number(model, x, y):
    torch.nn.functional.l1_loss(model(x), y).backward()


def with_data(model, x, y):
    loss = torch.nn.functional.l1_loss(model(x), y)
    (-loss).backward()


def with_a_mean(model, x, y):
    loss = torch.nn.functional.l1_loss(model(x), y)
    loss.mean().backward()


def with_a_copy(model, x, y):
    loss = torch.nn.functional.l1_loss(model(x), y)
    loss.cpu().backward()


def with_names(model, x):
    loss = model(x).sum()
    cut = loss
    cut.backward()
    print(cut.item())


def with_a_name(model, x):
    again = model(x).sum()
    again.backward()
