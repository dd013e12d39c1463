import pytorch_lightning as pl


class Gan(pl.LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        return self.loss(batch, optimizer_idx)
