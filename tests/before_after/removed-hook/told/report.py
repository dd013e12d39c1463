# fixer: target=lightning==2.6.6
import pytorch_lightning as pl
import torch


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return {"predicted": self.layer(x), "target": y}

    def training_step_end(self, outputs):
        return torch.nn.functional.mse_loss(outputs["predicted"], outputs["target"])

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
