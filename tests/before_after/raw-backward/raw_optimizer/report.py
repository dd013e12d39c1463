"""Optimizers that the Trainer does not wrap step with whatever `.grad` holds.

Run under float16 with a scale of 1024 (torch 2.13, Lightning 2.6.6), one step: in the first five classes the weights
move by 0.225 as they stand, by 230 with `manual_backward`. `StepHandedOn` and `WithCritic` raise as they stand; with
`manual_backward` the critic moves by 312 instead of 0.304, and its weights have the norm 413 instead of 0.479.
`OwnScaler` raises either way.
"""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Unwrapped(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers(use_pl_optimizer=False)
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class UnwrappedInTurn(Unwrapped):
    def training_step(self, batch, batch_idx):
        for opt in self.optimizers(False):
            opt.zero_grad()
            loss = F.mse_loss(self.net(batch[0]), batch[1])
            loss.backward()
            opt.step()


class Own(Unwrapped):
    """An optimizer of torch, made by hand."""

    def configure_optimizers(self):
        return None

    def on_fit_start(self):
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        self.opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        self.opt.step()


class Inside(Unwrapped):
    """The optimizer inside of the wrapped one."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        opt.optimizer.step()


class OfTheTrainer(Unwrapped):
    def training_step(self, batch, batch_idx):
        opt = self.trainer.optimizers[0]
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        opt.step()


class StepHandedOn(Unwrapped):
    """The helper steps what it is given: once an optimizer of the Trainer, once another."""

    def __init__(self):
        super().__init__()
        self.critic = nn.Linear(8, 1)
        self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        self.descend(F.mse_loss(self.net(batch[0]), batch[1]), self.optimizers())
        self.descend(F.mse_loss(self.critic(batch[0]), batch[1]), self.critic_opt)

    def descend(self, loss, opt):
        opt.zero_grad()
        loss.backward()
        opt.step()


class Critic:
    """Steps itself."""

    def __init__(self):
        self.net = nn.Linear(8, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def update(self):
        self.opt.step()
        self.opt.zero_grad()


class WithCritic(Unwrapped):
    def __init__(self):
        super().__init__()
        self.critic = Critic()

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]) + self.critic.net(batch[0]), batch[1])
        loss.backward()
        opt.step()
        self.critic.update()


class OwnScaler(Unwrapped):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers(use_pl_optimizer=False)
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        self.scaler.step(opt)
        self.scaler.update()

    def on_fit_start(self):
        self.scaler = torch.amp.GradScaler("cpu")
