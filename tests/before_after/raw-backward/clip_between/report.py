"""A clip between backward and step: today it raises under float16, with `manual_backward` alone it would be silent.

The GAN of the article with a clip in it. Run for one step with SGD and lr=1 (torch 2.13, Lightning 2.6.6, float16 with a
scale of 1024): as it stands `Attempted unscale_ but _scale is None`; with `manual_backward` alone the discriminator moves
by 0.000488, as with `self.clip_gradients` in the training step; with `manual_backward` and the clip in
`on_before_optimizer_step`, for the optimizer of the discriminator only, by 0.5, as in float32.
"""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(4, 8)
        self.discriminator = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        real, noise = batch

        d_loss = F.softplus(-self.discriminator(real)).mean()
        d_loss = d_loss + F.softplus(self.discriminator(self.generator(noise).detach())).mean()
        opt_d.zero_grad()
        d_loss.backward()
        torch.nn.utils.clip_grad_norm_(self.discriminator.parameters(), 0.5)
        opt_d.step()

        g_loss = F.softplus(-self.discriminator(self.generator(noise))).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()

    def configure_optimizers(self):
        g = torch.optim.Adam(self.generator.parameters(), lr=2e-4)
        d = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4)
        return [g, d], []


class ByLightning(Gan):
    """As the documentation of Lightning has it."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self.discriminator(batch[0]).mean()
        opt.zero_grad()
        loss.backward()
        self.clip_gradients(opt, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        opt.step()


class InHelper(Gan):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self.discriminator(batch[0]).mean()
        opt.zero_grad()
        loss.backward()
        shorten(self.discriminator)
        opt.step()


def shorten(module):
    nn.utils.clip_grad_value_(module.parameters(), 0.5)


class BySomebody(Gan):
    """What is given parameters may clip their gradients: unsafe."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self.discriminator(batch[0]).mean()
        opt.zero_grad()
        loss.backward()
        self.shortener(self.discriminator.parameters())
        opt.step()
