import lightning as L


class Base(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.compute(batch)
        return loss.detach()
