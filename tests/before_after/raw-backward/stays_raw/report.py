"""Two raw calls of one step, of which one cannot be repaired: repairing the other alone makes the error silent."""

import lightning.pytorch as pl
import torch


class Two(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch).mean()
        loss.backward(retain_graph=True)
        torch.autograd.backward([loss * 2, loss * 3])
        opt.step()


class Result:
    def __init__(self, parts):
        self.parts = parts

    def backward(self):
        sum(self.parts).backward()


class Unknown(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch).mean()
        loss.backward()
        result = self.build(batch)
        result.backward()
        opt.step()


class Penalized:
    """A mixin, which knows nothing of Lightning."""

    def penalize(self, batch):
        penalty = self(batch).norm()
        penalty.backward()


class WithMixin(Penalized, pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch).mean()
        loss.backward()
        self.penalize(batch)
        opt.step()
