import lightning as L
import torch


class Base(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.compute(batch)
        return loss.detach()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
