import lightning.pytorch as pl


class Smoother(pl.LightningModule):
    def on_train_epoch_end(self, outputs):
        self.epochs += 1
