import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Gan(pl.LightningModule):
    """Every way in which people differentiate in a manual training step."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(8, 8)
        self.discriminator = nn.Linear(8, 1)
        self.criterion = nn.BCEWithLogitsLoss()

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        real, noise = batch
        fake = self.generator(noise)
        real_out = self.discriminator(real)

        opt_d.zero_grad()
        errD_real = self.criterion(real_out, torch.ones_like(real_out))
        self.manual_backward(errD_real, retain_graph=True)
        self.manual_backward(self.discriminator(fake.detach()).mean() * 0.5)  # the other half
        self.manual_backward(
            F.softplus(real_out).mean(),
            retain_graph=True,  # needed below
        )
        opt_d.step()

        opt_g.zero_grad()
        out = self.discriminator(fake)
        self.manual_backward(out, torch.ones_like(out))
        self.log("out", out.mean())
        opt_g.step()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self._regularise(self.path_length(batch))

    def _regularise(self, penalty: torch.Tensor):
        self.manual_backward(penalty)

    def path_length(self, batch):
        return self.generator(batch[1]).norm()


class Closure(pl.LightningModule):
    @property
    def automatic_optimization(self) -> bool:
        return False

    def training_step(module, batch, batch_idx):
        def closure():
            opt.zero_grad()
            loss = module.compute_loss(batch)
            module.manual_backward(loss)
            return loss

        opt = module.optimizers()
        opt.step(closure=closure)
        losses = module.auxiliary(batch)
        module.manual_backward(losses["cycle"])
        if batch_idx % 2 == 0: module.manual_backward(module.auxiliary_loss(batch))

    def compute_loss(self, batch):
        return self(batch[0]).mean()


class Functional(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch[0])
        weight = torch.ones_like(loss)
        self.manual_backward(loss, gradient=weight)
        self.manual_backward(loss, weight, True)
        self.manual_backward(loss, weight)
        self.manual_backward(loss.mean(), retain_graph=True)
        self.manual_backward(loss.sum())
        opt.step()
