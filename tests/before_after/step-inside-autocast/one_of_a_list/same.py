"""One optimizer of several steps, and it does not hold the weights that run again; of another that cannot be told."""

import torch
import torch.nn.functional as F


class Gan:
    def __init__(self):
        self.generator, self.critic = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
        self.optimizers = [
            torch.optim.Adam(self.generator.parameters()),
            torch.optim.Adam(self.critic.parameters()),
        ]

    def step(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = self.generator(x).mean() + self.critic(x).mean()
            loss.backward()
            self.optimizers[1].step()
            return self.generator(x)

    def any_step(self, x, which):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = self.generator(x).mean() + self.critic(x).mean()
            loss.backward()
            self.optimizers[which].step()
            return self.generator(x)
