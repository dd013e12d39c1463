from lightning.pytorch import LightningModule
from torch import *
from torch.optim import SGD


class Net(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def configure_optimizers(self):
        return SGD(self.parameters(), lr=0.1)
