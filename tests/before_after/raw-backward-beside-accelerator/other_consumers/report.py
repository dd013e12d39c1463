"""Gradients that others than prepared optimizers use.

Run (torch 2.13, Accelerate 1.15): the critic that nobody prepared moves by 0.107 before and by 0.0275 after (four
accumulated batches), by 7.75 with a scaler of 1024; the raw clip raises before and moves 3.8e-05 after, with the same
scaler; `delta.grad` is 0.535 before and 0.134 after.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator


def raw_critic(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    critic = nn.Linear(1, 1)
    critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(critic(model(x)), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        step(critic_optimizer)


def step(optimizer):
    optimizer.step()
    optimizer.zero_grad()


class Critic(nn.Module):
    """Steps itself."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def forward(self, x):
        return self.net(x)

    def update(self):
        self.optimizer.step()


def own_method(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    critic = Critic()
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(critic(model(x)), y)
        loss.backward()
        critic.update()
        optimizer.step()


def never_stepped_here(model, optimizer, loader):
    """Who steps the critic is not in sight: unsafe."""
    accelerator = Accelerator(gradient_accumulation_steps=4)
    critic = nn.Linear(1, 1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(critic(model(x)), y)
        loss.backward()
        optimizer.step()
    return critic


def raw_clip(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


def attacked(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        delta = torch.zeros_like(x, requires_grad=True)
        loss = F.mse_loss(model(x + delta), y)
        loss.backward()
        x = x + 0.5 * delta.grad
        optimizer.step()


def one_stays_raw(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        torch.autograd.backward([loss, loss * 2])
        optimizer.step()


class Trainer:
    """The step stands in another method than the backward, the clip in a third one."""

    def __init__(self, model, optimizer):
        self.accelerator = Accelerator(mixed_precision="fp16")
        self.model, self.optimizer = self.accelerator.prepare(model, optimizer)

    def train(self, loader):
        for batch in loader:
            self.descend(batch)
            self.update()

    def descend(self, batch):
        loss = F.mse_loss(self.model(batch[0]), batch[1])
        loss.backward()

    def update(self):
        self.shorten()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def shorten(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
