"""Gradients that are thrown away before the next backward pass, or that belong to another optimizer."""

import torch
import torch.nn.functional as F
from torch import nn


def first(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def of_another(batches):
    generator, critic = nn.Linear(8, 8), nn.Linear(8, 1)
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    for x in batches:
        critic(generator(x)).mean().neg().backward()
        second.zero_grad()  # of the critic, which the generator's loss trained, too
        first.step()
        critic(generator(x).detach()).mean().backward()
        second.step()
        first.zero_grad()


def in_windows(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        F.mse_loss(model(x), y).backward()
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()


def before_the_schedule(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    optimizer.zero_grad()
    optimizer.step()  # so that the scheduler does not warn
    scheduler.step()


def unless_finite(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if not torch.isfinite(loss):
            optimizer.zero_grad()
            continue
        optimizer.step()
        optimizer.zero_grad()


def bad_batches_are_nothing(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if not torch.isfinite(loss):
            optimizer.zero_grad()
        optimizer.step()
        optimizer.zero_grad()


def put_back(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        taken = [p.grad.clone() for p in model.parameters()]
        optimizer.zero_grad()
        for p, gradient in zip(model.parameters(), taken):
            p.grad = gradient / 2
        optimizer.step()
        optimizer.zero_grad()


def twice(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
