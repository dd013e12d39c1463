import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, WeightedRandomSampler


class Baseline(pl.LightningModule):
    def __init__(self, features=24, classes=3):
        super().__init__()
        self.net = nn.Linear(features, classes)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(dataset, weights):
    sampler = WeightedRandomSampler(weights, len(dataset))
    loader = DataLoader(dataset, batch_size=64, sampler=sampler)
    trainer = pl.Trainer(
        accelerator="gpu",
        devices=2,
        strategy="ddp",
        max_epochs=5,
        replace_sampler_ddp=False,
    )
    trainer.fit(Baseline(), loader)
