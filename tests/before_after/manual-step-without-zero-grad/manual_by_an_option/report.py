import lightning.pytorch as pl
import torch


class SometimesManual(pl.LightningModule):
    def __init__(self, manual):
        super().__init__()
        if manual:
            self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(self(batch).mean())
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
