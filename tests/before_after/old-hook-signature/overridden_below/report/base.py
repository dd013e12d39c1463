import pytorch_lightning as pl


class Base(pl.LightningModule):
    def on_train_epoch_end(self, outputs):
        raise NotImplementedError
