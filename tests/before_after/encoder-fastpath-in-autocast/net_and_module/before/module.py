from lightning.pytorch import LightningModule
from torch import nn

from net import Net


class Module(LightningModule):
    def __init__(self, features):
        super().__init__()
        self.net = Net(features)

    def training_step(self, batch, batch_idx):
        x, padding, y = batch
        return nn.functional.mse_loss(self.net(x, padding), y)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.training_step(batch, batch_idx))
