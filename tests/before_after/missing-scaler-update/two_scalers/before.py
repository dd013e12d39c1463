"""Each optimizer has a scaler of its own, and only one of them is updated.

Run (torch 2.13), second step: `RuntimeError: step() has already been called since the last update().`
"""

import torch


class Gan:
    def __init__(self, generator, critic, device="cuda"):
        self.generator, self.critic = generator, critic
        self.for_generator = torch.optim.Adam(generator.parameters())
        self.for_critic = torch.optim.Adam(critic.parameters())
        self.scaler_g = torch.amp.GradScaler(device)
        self.scaler_c = torch.amp.GradScaler(device)

    def train(self, loader):
        for real in loader:
            self.scaler_c.scale(self.critic(real).mean()).backward()
            self.scaler_c.step(self.for_critic)
            self.scaler_c.update()
            self.scaler_g.scale(-self.critic(self.generator(real)).mean()).backward()
            self.scaler_g.step(self.for_generator)
