# fixer: unsafe
import pytorch_lightning as pl
import torch
from torch.optim.lr_scheduler import OneCycleLR


class One(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=len(self.loader))
        return {'optimizer': optimizer, 'lr_scheduler': {'scheduler': schedule, 'interval': 'step'}}


class Two(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = {'scheduler': OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5), 'name': 'rate', 'interval': 'step'}
        return [optimizer], [schedule]
