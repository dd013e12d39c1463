import pytorch_lightning as pl


class Module(pl.LightningModule):
    def on_validation_epoch_start(self):
        if self.trainer.running_sanity_check or self.trainer.gpus:
            return
