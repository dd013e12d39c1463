import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

import settings


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch[0]).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    config = settings.load("config.yaml")
    trainer = pl.Trainer(default_root_dir=config["tag"], **config["trainer"])
    trainer.fit(Net(), DataLoader(TensorDataset(torch.randn(64, 8)), **config["data"]))
