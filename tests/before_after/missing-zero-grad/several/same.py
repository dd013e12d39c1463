"""A generator and a discriminator: what each backward pass is for is not told."""

import torch
from torch import nn


def train(batches, adversarial):
    generator, critic = nn.Linear(8, 8), nn.Linear(8, 1)
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    for x in batches:
        first.zero_grad()
        second.zero_grad()
        adversarial(critic(generator(x)), True).backward()
        first.step()
        second.zero_grad()
        adversarial(critic(generator(x).detach()), False).backward()
        second.step()


def in_turns(batches, losses):
    encoder, head = nn.Linear(8, 8), nn.Linear(8, 1)
    first = torch.optim.SGD(encoder.parameters(), lr=0.1)
    second = torch.optim.SGD(head.parameters(), lr=0.1)
    for x in batches:
        first.zero_grad()
        losses[0](encoder(x)).backward()
        first.step()
        for again in (1, 2):
            second.zero_grad()
            losses[again](head(encoder(x).detach())).backward()
            second.step()
