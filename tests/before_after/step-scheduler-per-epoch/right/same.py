import pytorch_lightning as pl
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR
from transformers import get_linear_schedule_with_warmup


class ByStep(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = OneCycleLR(optimizer, 0.1, total_steps=self.trainer.estimated_stepping_batches)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class ByEpoch(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        if self.hparams.one:
            return [optimizer], [OneCycleLR(optimizer, 0.1, total_steps=self.trainer.max_epochs)]
        if self.hparams.two:
            return [optimizer], [get_linear_schedule_with_warmup(optimizer, 1, self.hparams.epochs)]
        return [optimizer], [CosineAnnealingLR(optimizer, 100)]


class Says(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)
        said = {"scheduler": schedule, "interval": "epoch"}
        return [optimizer], [said]
