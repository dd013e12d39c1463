# fixer: target=lightning==2.6.6
import lightning.pytorch as pl


class Counting(pl.LightningModule):
    def on_epoch_end(self):
        self.seen = 0

    def on_train_epoch_end(self):
        self.on_epoch_end()
