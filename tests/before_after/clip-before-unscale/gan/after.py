import torch
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def __init__(self, generator, critic, use_amp):
        self.generator, self.critic = generator, critic
        self.optim_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
        self.optim_c = torch.optim.Adam(critic.parameters(), lr=2e-4)
        self.scaler = torch.cuda.amp.GradScaler(enabled=use_amp)

    def step(self, real, noise):
        self.optim_c.zero_grad()
        loss_c = self.critic(self.generator(noise).detach()).mean() - self.critic(real).mean()
        self.scaler.scale(loss_c).backward()
        self.scaler.unscale_(self.optim_c)
        clip_grad_norm_(self.critic.parameters(), 1.0)
        self.scaler.step(self.optim_c)

        self.optim_g.zero_grad()
        loss_g = -self.critic(self.generator(noise)).mean()
        self.scaler.scale(loss_g).backward()
        self.scaler.unscale_(self.optim_g)
        clip_grad_norm_(self.generator.parameters(), 1.0)
        self.scaler.step(self.optim_g)
        self.scaler.update()
