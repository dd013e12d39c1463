import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class GAN(pl.LightningModule):
    def __init__(self, features: int = 8):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(features, features)
        self.discriminator = nn.Linear(features, 1)

    def adversarial_loss(self, fake):
        return F.softplus(-self.discriminator(fake)).mean()

    def training_step(self, batch, batch_idx):
        real, _ = batch
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.ones_like(real))

        d_loss = F.softplus(-self.discriminator(real)).mean() + F.softplus(self.discriminator(fake.detach())).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        torch.clear_autocast_cache()

        g_loss = self.adversarial_loss(fake)
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.log("d_loss", d_loss)
        self.log("g_loss", g_loss)

    def configure_optimizers(self):
        opt_g = torch.optim.SGD(self.generator.parameters(), lr=0.5)
        opt_d = torch.optim.SGD(self.discriminator.parameters(), lr=0.5)
        return [opt_g, opt_d], []


def main(loader):
    pl.Trainer(precision="bf16-mixed", max_epochs=5).fit(GAN(), loader)
