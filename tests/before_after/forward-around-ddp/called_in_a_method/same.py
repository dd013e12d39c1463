import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Training:
    def __init__(self, generator, discriminator):
        self.generator = DDP(generator)
        self.discriminator = DDP(discriminator)

    def of_the_discriminator(self, real, fake):
        loss = self.discriminator(real).mean() - self.discriminator(fake.detach()).mean()
        loss.backward()

    def of_the_generator(self, noise):
        fake = self.generator(noise)
        loss = self.discriminator.module(fake).mean()
        loss.backward()
        return fake
