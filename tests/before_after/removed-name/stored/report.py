# fixer: target=lightning==2.6.6
import pytorch_lightning as pl


class Net(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams

    def training_step(self, batch, index):
        return self.hparams.scale * batch.sum()


class Data(pl.LightningDataModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams


class Own(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams

    @property
    def hparams(self):
        return self._own

    @hparams.setter
    def hparams(self, value):
        self._own = value


class Right(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.save_hyperparameters(hparams)
        self.scale = self.hparams.scale
