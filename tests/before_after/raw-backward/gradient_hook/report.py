"""A hook sees the scaled gradients: clamped at 0.05 the step is 1.4e-05 (float16, a scale of 1024), not 0.0141."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Clamped(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def on_fit_start(self):
        self.net.weight.register_hook(lambda grad: grad.clamp(-0.05, 0.05))

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        opt.step()
