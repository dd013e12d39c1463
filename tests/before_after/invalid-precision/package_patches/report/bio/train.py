import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Fold(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(20, 3)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.fc(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def main():
    ds = TensorDataset(torch.randn(30, 20), torch.randint(0, 3, (30,)))
    trainer = pl.Trainer(accelerator="cpu", max_epochs=1, precision="fp32", logger=False, enable_checkpointing=False)
    trainer.fit(Fold(), DataLoader(ds, batch_size=10))


if __name__ == "__main__":
    main()
