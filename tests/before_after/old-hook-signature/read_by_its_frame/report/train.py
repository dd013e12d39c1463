import lightning.pytorch as pl
from stats import log_outputs


class Net(pl.LightningModule):
    def on_train_epoch_end(self, outputs):
        log_outputs(self)
