import lightning.pytorch as pl
import torch


class Regression(pl.LightningModule):
    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        self.descend(batch)

    def descend(self, batch):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self.net(batch[0]).mean()
        loss.backward()
        opt.step()
