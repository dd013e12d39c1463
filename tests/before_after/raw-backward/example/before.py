"""Encoder, decoder and discriminator trained together, each with an optimizer and a scheduler of its own."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class AdversarialAutoencoder(pl.LightningModule):
    def __init__(self, features: int = 8, latent: int = 4, lr: float = 1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.encoder = nn.Sequential(nn.Linear(features, latent), nn.Tanh())
        self.decoder = nn.Linear(latent, features)
        self.head = nn.Linear(latent, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt_encoder, opt_decoder, opt_head = self.optimizers()
        z = self.encoder(x)
        reconstruction = F.mse_loss(self.decoder(z), x)
        prediction = F.mse_loss(self.head(z), y)
        loss = reconstruction + prediction

        for opt in (opt_encoder, opt_decoder, opt_head):
            opt.zero_grad()
        loss.backward()
        for opt in (opt_encoder, opt_decoder, opt_head):
            opt.step()

        self.log("train_loss", loss, prog_bar=True)

    def on_train_epoch_end(self):
        for scheduler in self.lr_schedulers():
            scheduler.step(self.trainer.callback_metrics["train_loss"])

    def configure_optimizers(self):
        optimizers = [
            torch.optim.Adam(part.parameters(), lr=self.hparams.lr)
            for part in (self.encoder, self.decoder, self.head)
        ]
        schedulers = [
            {"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2), "monitor": "train_loss"}
            for opt in optimizers
        ]
        return optimizers, schedulers


def main(train_loader, val_loader=None):
    trainer = pl.Trainer(accelerator="gpu", devices=1, precision="16-mixed", max_epochs=20)
    trainer.fit(AdversarialAutoencoder(), train_loader, val_loader)
