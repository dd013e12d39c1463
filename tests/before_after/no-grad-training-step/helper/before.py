import pytorch_lightning as pl
import torch
from torch import nn


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)
        self.criterion = nn.MSELoss()

    @torch.inference_mode()
    def _shared_step(self, batch):
        x, y = batch
        prediction = self.net(x)
        loss = self.criterion(prediction, y)
        return loss, prediction

    def training_step(self, batch, batch_idx):
        loss, prediction = self._shared_step(batch)
        self.log("train_loss", loss)
        return {"loss": loss, "mean": prediction.mean()}

    def validation_step(self, batch, batch_idx):
        loss, _ = self._shared_step(batch)
        self.log("val_loss", loss)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
