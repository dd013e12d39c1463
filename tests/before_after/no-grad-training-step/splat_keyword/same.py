import lightning.pytorch as pl
import torch


class Base(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Splat(Base):
    @torch.set_grad_enabled(*[True])
    def training_step(self, batch, batch_idx):
        return self.loss(batch)


class Keyword(Base):
    @torch.inference_mode(mode=False)
    def training_step(self, batch, batch_idx):
        return self.loss(batch)


class Hidden(Base):
    @torch.inference_mode(**{"mode": False})
    def training_step(self, batch, batch_idx):
        return self.loss(batch)
