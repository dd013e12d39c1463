# fixer: unsafe strategy=inner-nocache target=torch>=2.3
import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Regressor(pl.LightningModule):
    def __init__(self, features: int = 8, hidden: int = 16, lr: float = 0.1):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = nn.Linear(features, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(F.relu(self.backbone(x)))

    def training_step(self, batch, batch_idx):
        x, y = batch
        with torch.no_grad(), torch.autocast(self.device.type, enabled=torch.is_autocast_enabled(self.device.type), cache_enabled=False):
            self.log("train/feature_norm", self.backbone(x).norm())
        loss = F.mse_loss(self(x), y)
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


def main(loader):
    trainer = pl.Trainer(accelerator="gpu", devices=1, precision="bf16-mixed", max_epochs=10)
    trainer.fit(Regressor(), loader)
