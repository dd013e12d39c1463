"""Adversarial autoencoder: encoder, decoder and discriminator, each with an optimizer and a scheduler of its own."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, latent: int = 32, channels: int = 1, width: int = 16, size: int = 28):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(2 * width * (size // 4) ** 2, latent),
        )

    def forward(self, images):
        return self.layers(images)


class Decoder(nn.Module):
    def __init__(self, latent: int = 32, channels: int = 1, width: int = 16, size: int = 28):
        super().__init__()
        self.width, self.start = width, size // 4
        self.project = nn.Linear(latent, 2 * width * self.start**2)
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(width, channels, 4, stride=2, padding=1),
            nn.Tanh(),
        )

    def forward(self, latent):
        return self.layers(self.project(latent).view(-1, 2 * self.width, self.start, self.start))


class AdversarialAutoencoder(pl.LightningModule):
    def __init__(self, latent: int = 32, lr: float = 2e-4, adversarial_weight: float = 0.01):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.encoder = Encoder(latent=latent)
        self.decoder = Decoder(latent=latent)
        self.discriminator = nn.Sequential(Encoder(latent=64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def adversarial_loss(self, logits, real: bool):
        target = torch.full_like(logits, float(real))
        return F.binary_cross_entropy_with_logits(logits, target)

    def training_step(self, batch, batch_idx):
        images, _ = batch
        opt_encoder, opt_decoder, opt_discriminator = self.optimizers()

        # encoder and decoder: reconstruct, and fool the discriminator
        generated = self.decoder(self.encoder(images))
        reconstruction = F.mse_loss(generated, images)
        fooling = self.adversarial_loss(self.discriminator(generated), real=True)
        loss_generator = reconstruction + self.hparams.adversarial_weight * fooling
        opt_encoder.zero_grad()
        opt_decoder.zero_grad()
        loss_generator.backward()
        opt_encoder.step()
        opt_decoder.step()

        # discriminator: tell images from reconstructions
        loss_real = self.adversarial_loss(self.discriminator(images), real=True)
        loss_fake = self.adversarial_loss(self.discriminator(generated.detach()), real=False)
        loss_discriminator = (loss_real + loss_fake) / 2
        loss_discriminator.backward()
        opt_discriminator.step()

        self.log_dict({"loss_generator": loss_generator, "loss_discriminator": loss_discriminator}, prog_bar=True)

    def on_train_epoch_end(self):
        for scheduler in self.lr_schedulers():
            scheduler.step(self.trainer.callback_metrics["loss_generator"])

    def configure_optimizers(self):
        parts = (self.encoder, self.decoder, self.discriminator)
        optimizers = [torch.optim.Adam(part.parameters(), lr=self.hparams.lr, betas=(0.5, 0.999)) for part in parts]
        schedulers = [torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3) for optimizer in optimizers]
        return optimizers, schedulers


def main():
    digits = TensorDataset(torch.rand(256, 1, 28, 28) * 2 - 1, torch.zeros(256))
    trainer = pl.Trainer(max_epochs=20, precision="16-mixed", accelerator="auto", devices=1)
    trainer.fit(AdversarialAutoencoder(), DataLoader(digits, batch_size=64, shuffle=True))


if __name__ == "__main__":
    main()
