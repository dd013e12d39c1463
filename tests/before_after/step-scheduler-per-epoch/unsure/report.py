import pytorch_lightning as pl
import torch
from torch.optim.lr_scheduler import OneCycleLR
from transformers import get_cosine_schedule_with_warmup


class Count(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [get_cosine_schedule_with_warmup(optimizer, 0, self.hparams.total)]


class Itself(pl.LightningModule):
    def lr_scheduler_step(self, scheduler, metric):
        scheduler.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)]
