import torch


class Trainer:
    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.scaler = torch.amp.GradScaler("cuda")

    def apply(self, optimizer):
        self.scaler.step(optimizer)
        optimizer.zero_grad()

    def train(self, loader, optimizer_g, optimizer_c):
        for real in loader:
            self.scaler.scale(self.critic(real).mean()).backward()
            self.apply(optimizer_c)
            self.scaler.scale(-self.critic(self.generator(real)).mean()).backward()
            self.apply(optimizer_g)
