import lightning as L
import torch


class Base(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
