# fixer: target=lightning==2.6.6
import pytorch_lightning as pl
from somewhere import *


class LightningModule:  # shadow: a class of the project of that name
    pass


class Own(LightningModule):
    def training_epoch_end(self, outputs):
        return outputs


class Brought(FancyModule):  # star: nobody knows what the import brings
    def training_epoch_end(self, outputs):
        return outputs


def made(bases, **kwargs):
    class Spread(*bases):  # splat: what the bases are cannot be seen
        def training_epoch_end(self, outputs):
            return outputs

    class Hidden(**kwargs):  # keyword: no base in sight
        def training_epoch_end(self, outputs):
            return outputs

    return Spread, Hidden


if pl.__version__ < "2":

    class ForOld(pl.LightningModule):
        def training_epoch_end(self, outputs):
            return outputs
