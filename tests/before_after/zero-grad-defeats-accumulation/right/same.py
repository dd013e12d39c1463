"""Windows of gradients that stay until they are used, and rounds that are dropped on purpose."""

import torch
import torch.nn.functional as F
from torch import nn


def behind_the_step(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    optimizer.zero_grad()
    for i, (x, y) in enumerate(batches):
        (F.mse_loss(model(x), y) / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def at_the_head(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        if i % n == 0:
            optimizer.zero_grad()
        (F.mse_loss(model(x), y) / n).backward()
        if i % n == n - 1:
            optimizer.step()


def a_loop_of_its_own(windows):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for window in windows:
        optimizer.zero_grad()
        for x, y in window:
            (F.mse_loss(model(x), y) / len(window)).backward()
        optimizer.step()


def unless_not_finite(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if torch.isfinite(loss):
            optimizer.step()


def in_turns(batches, n):
    generator, critic = nn.Linear(8, 8), nn.Linear(8, 1)
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    for i, x in enumerate(batches):
        second.zero_grad()
        critic(generator(x).detach()).mean().backward()
        second.step()
        first.zero_grad()
        critic(generator(x)).mean().neg().backward()
        if i % n == 0:
            first.step()
