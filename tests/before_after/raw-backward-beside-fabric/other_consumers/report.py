"""Gradients that others than the optimizers of Fabric use.

Run under 16-mixed with a scale of 1024 (torch 2.13, Lightning 2.6.6), one step: as it stands Fabric refuses each of
these; with `fabric.backward` the raw clip leaves 3.8e-05 of 0.0386, the critic that nobody set up moves by 7.86 instead
of 0.0077, and the optimizer inside of Fabric's by 230 instead of 0.225. `fabric.clip_gradients` unscales first.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.fabric import Fabric


def raw_clip(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


def raw_critic(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    critic = nn.Linear(1, 1)
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(critic(model(x)), y)
        loss.backward()
        optimizer.step()
        update(critic_optimizer)


def update(optimizer):
    optimizer.step()
    optimizer.zero_grad()


def inside(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        step(optimizer)


def step(optimizer):
    optimizer.optimizer.step()
    optimizer.zero_grad()


def measured(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if any(not torch.isfinite(p.grad).all() for p in model.parameters()):
            continue
        optimizer.step()


def taken(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        gradient = model.head.weight.grad
        log(gradient.norm())
        optimizer.step()
