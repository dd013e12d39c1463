import lightning as L
import torch


class Base(L.LightningModule):
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
