import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F

from collect import keep_outputs, with_outputs


class Forecaster(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.GRU(4, 16, batch_first=True)
        self.head = nn.Linear(16, 1)
        self.epochs_done = 0

    @keep_outputs
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.l1_loss(self.head(self.net(x)[0][:, -1]), y)

    @with_outputs
    def on_train_epoch_end(self, outputs):
        self.epochs_done += 1
        self.log("epochs_done", float(self.epochs_done))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)
