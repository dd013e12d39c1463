"""Clips between the backward pass and the step, clips of what another optimizer steps, and norms that are only read."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def between(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def of_the_next(batches):
    critic, generator = nn.Linear(8, 1), nn.Linear(8, 8)
    first = torch.optim.SGD(critic.parameters(), lr=0.05)
    second = torch.optim.SGD(generator.parameters(), lr=0.05)
    for x in batches:
        critic(generator(x).detach()).mean().backward()
        nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        first.step()
        critic(generator(x)).mean().neg().backward()
        nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
        second.step()
        first.zero_grad()
        second.zero_grad()


def weights(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        for p in model.parameters():
            p.data.clamp_(-0.01, 0.01)


def in_windows(batches, n):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i, (x, y) in enumerate(batches):
        F.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if i % n == n - 1:
            optimizer.step()
            optimizer.zero_grad()


def again(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # to no purpose, but to no harm
        optimizer.zero_grad()


def kept(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # of what goes on into the next round


def only_measured(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), math.inf)


def in_the_next_round(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        for part, wanted in zip(x.chunk(4), y.chunk(4)):
            loss = F.mse_loss(model(part), wanted) / 4
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # of the parts before
            loss.backward()
        optimizer.step()


def sent_to_others(batches, mailbox):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        mailbox.append([p.grad.clone() for p in model.parameters()])
