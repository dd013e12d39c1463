# fixer: unsafe
"""Encoder, decoder and head with an optimizer each, as in many a tutorial."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tutorial(pl.LightningModule):
    def __init__(self, features: int = 8, lr: float = 0.05):
        super().__init__()
        self.automatic_optimization = False
        self.encoder = nn.Linear(features, 4)
        self.decoder = nn.Linear(4, features)
        self.head = nn.Linear(4, 1)
        self.lr = lr

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt_encoder, opt_decoder, opt_head = self.optimizers()
        z = self.encoder(x)
        loss = F.mse_loss(self.decoder(z), x) + F.mse_loss(self.head(z), y)
        # one backward for all three
        self.manual_backward(loss)
        opt_encoder.step()
        opt_decoder.step()
        opt_head.step()
        self.log("train_loss", loss)

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=self.lr) for part in (self.encoder, self.decoder, self.head)]
