# fixer: target=lightning==2.6.6
import lightning.pytorch as pl
import torch
import torch.nn.functional as F


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
    trainer = pl.Trainer(
        accelerator="cpu",
        max_epochs=1,
        precision="bf16_mixed",  # half the memory
        logger=False,
        enable_checkpointing=False,
    )
    trainer.fit(module, loader)
