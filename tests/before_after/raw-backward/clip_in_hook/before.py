"""Gradients that are clipped where they are unscaled already: in `on_before_optimizer_step`."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Clipped(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        opt.step()
        self.log("train_loss", loss)

    def on_before_optimizer_step(self, optimizer):
        self.log("norm", torch.stack([p.grad.norm() for p in self.net.parameters()]).norm())
        self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
