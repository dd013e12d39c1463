import pytorch_lightning as pl
import torch
from torch import nn


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).square().mean()

    def on_train_epoch_end(self):
        self.trainer.training_type_plugin.barrier("epoch")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
