"""Gradients that something sets to zero, each in a way of its own."""

import torch
import torch.nn.functional as F
from torch import nn


def _clear(model):
    for parameter in model.parameters():
        parameter.grad = None


def _start(optimizer):
    optimizer.zero_grad()


def plain(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def by_the_model(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        model.zero_grad()


def by_hand(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        for parameter in model.parameters():
            parameter.grad = None
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def by_helpers(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        _start(optimizer)
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        _clear(model)


def accumulated(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        if i % n == 0:
            optimizer.zero_grad()
        (F.mse_loss(model(x), y) / n).backward()
        if i % n == n - 1:
            optimizer.step()


def one_step(x, y):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    F.mse_loss(model(x), y).backward()
    optimizer.step()


def in_a_closure(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.LBFGS(model.parameters())
    for x, y in batches:

        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)


def of_autograd(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        gradients = torch.autograd.grad(F.mse_loss(model(x), y), list(model.parameters()))
        for parameter, gradient in zip(model.parameters(), gradients):
            parameter.grad = gradient
        optimizer.step()
