import lightning.pytorch as pl
import torch
from contextlib import nullcontext
from functools import partial

no_grad = partial(nullcontext)


class Net(pl.LightningModule):
    @no_grad()
    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Static(pl.LightningModule):
    @staticmethod
    @torch.no_grad()
    def training_step(batch, batch_idx):
        return batch.mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class LightningModule:
    pass


class Own(LightningModule):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
