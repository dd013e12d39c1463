import pytorch_lightning as pl
import torch.nn.functional as F
from base import LabModule
from torch import nn
from transformers import Adafactor


class Classifier(LabModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def loss(self, batch):
        x, y = batch
        return F.cross_entropy(self.layer(x), y)

    def configure_optimizers(self):
        return Adafactor(self.parameters(), lr=1e-3, relative_step=False, scale_parameter=False)


def main(loader):
    pl.Trainer(accelerator="cpu", max_epochs=2, logger=False).fit(Classifier(), loader)
