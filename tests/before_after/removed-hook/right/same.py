import lightning.pytorch as pl


class Regression(pl.LightningModule):
    def on_train_epoch_end(self):
        self.log("epochs", 1.0)

    def on_validation_epoch_end(self):
        self.log("validations", 1.0)
