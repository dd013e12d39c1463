import pytorch_lightning as pl
import torch.nn as nn
import torch.nn.functional as F
from lion import Lion



class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 4)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return Lion(self.parameters())
