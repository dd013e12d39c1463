import lightning.pytorch as pl


class Zeroing(pl.Callback):
    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        for optimizer in trainer.optimizers:
            optimizer.zero_grad()
