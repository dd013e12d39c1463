# fixer: target=lightning==2.6.6
import pytorch_lightning as pl
from somewhere import *


class LightningModule:  # shadow: a class of the project of that name
    pass


class Own(LightningModule):
    def on_train_epoch_end(self, outputs):
        return None


class Brought(FancyModule):  # star: nobody knows what the import brings
    def on_train_epoch_end(self, outputs):
        return None


class Open(pl.LightningModule):
    def on_train_epoch_end(self, *outputs):  # splat: takes what comes
        return None


class Defaulted(pl.LightningModule):
    def on_train_epoch_end(self, outputs=None):  # keyword: nobody has to give it
        return None
