import torch
from torch import nn
from torch.nn import functional as F


def numbers(model, loader, optimizer):
    total, losses = 0.0, []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        losses.append(loss.detach())
        total += float(loss)
    return total / len(losses)


def several_losses(model, loader, optimizer):
    for batch in loader:
        total = 0
        for x, y in batch:
            loss = F.mse_loss(model(x), y)
            total += loss
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


def two_losses(model, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss += 0.1 * model.weight.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluated(model, loader):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += F.mse_loss(model(x), y)
    return total


def retained(model, loader, optimizer):
    everything = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=True)
        everything.append(loss)
    torch.stack(everything).sum().backward()
    optimizer.step()


def penalty(model, loader, optimizer):
    regret = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        regret += loss
        (loss + regret).backward()
        optimizer.step()
        regret = regret.detach()
