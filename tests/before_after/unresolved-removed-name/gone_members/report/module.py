import pytorch_lightning as pl


class Module(pl.LightningModule):
    def on_validation_epoch_start(self):
        if self.trainer.running_sanity_check or self.trainer.gpus:
            return
        print(self.trainer.callbacks, self.trainer.log_every_n_steps)  # other code of the library sets these
