"""A base class of a library that is not known may override what the Trainer calls."""

import torch
import lightning.pytorch as pl
from mylib.mixins import ManualMixin


class Net(ManualMixin, pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self.layer(batch).mean()
        loss.backward()
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


trainer = pl.Trainer(precision="16-mixed")
trainer.fit(Net())
