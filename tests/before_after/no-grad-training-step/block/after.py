import contextlib

import lightning as L
import torch
import torch.nn.functional as F


class Base(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Whole(Base):
    def training_step(self, batch, batch_idx):
        """Everything is in the block."""
        x, y = batch

        # saves memory
        # forward
        prediction = self.net(x)
        loss = F.mse_loss(prediction, y)
        self.log("train_loss", loss)
        return loss


class Beside(Base):
    def training_step(self, batch, batch_idx):
        with contextlib.nullcontext():
            return {"loss": F.mse_loss(self.net(batch[0]), batch[1])}


class After(Base):
    def training_step(self, batch, batch_idx):
        with contextlib.nullcontext():
            return F.mse_loss(self.net(batch[0]), batch[1])


class OneLine(Base):
    def training_step(self, batch, batch_idx):
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
