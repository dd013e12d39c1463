import lightning.pytorch as pl
import torch


class Regression(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch[0]).mean()
        loss.backward()
        opt.step()
