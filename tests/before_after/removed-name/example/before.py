# fixer: target=lightning==2.6.6
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from pytorch_lightning.utilities.seed import seed_everything


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def train(module, loader):
    seed_everything(1)
    trainer = pl.Trainer(accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False)
    trainer.fit(module, loader)
