# fixer: unsafe
import lightning.pytorch as pl
import torch


class Regressor(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
        self.rates = []

    def training_step(self, batch, index):
        x, y = batch
        self.rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [schedule]
