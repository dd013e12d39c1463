import pytorch_lightning as pl


class Base(pl.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None, **kwargs):
        optimizer_closure()
        optimizer.optimizer.step()
