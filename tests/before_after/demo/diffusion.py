"""Diffusion with self-conditioning: half of the time the denoiser sees its own first guess."""

import math

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Denoiser(nn.Module):
    def __init__(self, features: int = 16, width: int = 128):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.enter = nn.Linear(2 * features, width)
        self.middle = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.leave = nn.Linear(width, features)

    def forward(self, x, t, x_self_cond=None):
        if x_self_cond is None:
            x_self_cond = torch.zeros_like(x)
        half = self.width // 2
        frequencies = torch.exp(-math.log(10_000) * torch.arange(half, device=x.device) / half)
        angles = t[:, None] * 1000 * frequencies
        h = self.enter(torch.cat([x, x_self_cond], dim=-1))
        h = h + self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        return self.leave(self.middle(h))


class SelfConditionedDiffusion(pl.LightningModule):
    def __init__(self, features: int = 16, lr: float = 1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.model = Denoiser(features)

    def q_sample(self, x_start, t, noise):
        signal = torch.cos(t * math.pi / 2)[:, None]
        return signal * x_start + torch.sqrt(1 - signal**2) * noise

    def training_step(self, batch, batch_idx):
        (x_start,) = batch
        t = torch.rand(len(x_start), device=self.device)
        noise = torch.randn_like(x_start)
        x = self.q_sample(x_start, t, noise)

        x_self_cond = None
        if torch.rand(()) < 0.5:
            with torch.no_grad():
                x_self_cond = self.model(x, t)

        loss = F.mse_loss(self.model(x, t, x_self_cond), noise)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


def train(loader, max_epochs: int = 100):
    trainer = pl.Trainer(max_epochs=max_epochs, precision="bf16-mixed", gradient_clip_val=1.0)
    trainer.fit(SelfConditionedDiffusion(), loader)
