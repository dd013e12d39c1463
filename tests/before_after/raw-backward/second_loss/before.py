"""A regulariser on the encoder, differentiated on its own after the main loss."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Regularised(pl.LightningModule):
    def __init__(self, features: int = 8, lr: float = 1e-2):
        super().__init__()
        self.automatic_optimization = False
        self.encoder = nn.Linear(features, 4)
        self.head = nn.Linear(4, 1)
        self.decoder = nn.Linear(4, features)
        self.lr = lr

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.head(self.encoder(x)), y)
        self.manual_backward(loss)
        reconstruction_loss = F.mse_loss(self.decoder(self.encoder(x).detach()), x)
        reconstruction_loss.backward()
        opt.step()
        self.log("train_loss", loss + reconstruction_loss.detach())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)
