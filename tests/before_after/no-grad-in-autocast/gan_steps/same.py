import torch.nn as nn
import torch
from accelerate import Accelerator


class Trainer:
    """Each pass has a region of its own, though not each stands in the same function."""

    def __init__(self, G: nn.Module, D: nn.Module):
        self.accelerator = Accelerator(mixed_precision="bf16")
        self.G, self.D = G, D

    def discriminator_step(self, z, real):
        with torch.no_grad(), self.accelerator.autocast():
            fake = self.G(z)
        with self.accelerator.autocast():
            loss = self.D(fake).mean() - self.D(real).mean()
        self.accelerator.backward(loss)

    def generator_step(self, z):
        with self.accelerator.autocast():
            loss = -self.D(self.G(z)).mean()
        self.accelerator.backward(loss)

    def step(self, z, real):
        self.discriminator_step(z, real)
        self.generator_step(z)
