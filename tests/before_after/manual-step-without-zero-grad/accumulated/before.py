# fixer: unsafe
"""The example of the rule's own page, and its neighbours."""

import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Modulo(pl.LightningModule):
    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.net(x)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = F.mse_loss(self(batch[0]), batch[1])
        self.manual_backward(loss)
        if batch_idx % 4 == 0:
            opt.step()


class NextModulo(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(F.mse_loss(self(batch[0]), batch[1]) / 4)
        if (batch_idx + 1) % 4 == 0:
            opt.step()


class Truth(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(F.mse_loss(self(batch[0]), batch[1]))
        if not batch_idx % self.every:
            opt.step()
