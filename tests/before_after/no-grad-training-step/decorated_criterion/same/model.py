import lightning.pytorch as pl
import torch
from criterion import Criterion


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.criterion = torch.nn.Linear(4, 1), Criterion()

    @torch.no_grad()
    def training_step(self, batch, index):
        x, y = batch
        loss = self.criterion(self.net, x, y)
        return loss
