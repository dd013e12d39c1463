import pytorch_lightning as pl
import torch
from somewhere import *
from torch.optim.lr_scheduler import OneCycleLR


class Plain(torch.nn.Module):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)]


class Manual(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)]


class Shadowed(pl.LightningModule):
    def configure_optimizers(self, OneCycleLR=None):  # shadow: a parameter of that name
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)]


class Star(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [CyclicOneCycle(optimizer, steps_per_epoch=5)]  # star: nobody knows what it is


class Splat(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=5)
        more = self.hparams.more
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, **more}}  # keyword: the interval may be among them


class Given(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [OneCycleLR(*self.arguments(optimizer))]  # splat: nobody knows the length
