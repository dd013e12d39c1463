import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from optim import Lion


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return (self.layer(batch[0]) - 1).square().mean()

    def configure_optimizers(self):
        return Lion(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    trainer = pl.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(Net(), DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=4))
