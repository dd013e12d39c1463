# fixer: target=pytorch-lightning==1.9.5
import pytorch_lightning as pl


class Regression(pl.LightningModule):
    def training_epoch_end(self, outputs):
        self.log("epochs", 1.0)
