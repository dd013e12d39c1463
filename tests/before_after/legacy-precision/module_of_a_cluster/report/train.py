import os

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Tagger(pl.LightningModule):
    def __init__(self, width=64):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(32, width), torch.nn.ReLU(), torch.nn.Linear(width, 5))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(int(os.environ.get("SLURM_ARRAY_TASK_ID", "0")))
    data = TensorDataset(torch.randn(512, 32), torch.randint(5, (512,)))
    trainer = pl.Trainer(
        accelerator="gpu",
        devices=1,
        max_epochs=5,
        precision=16,
        default_root_dir=os.environ.get("SCRATCH", "."),
    )
    trainer.fit(Tagger(), DataLoader(data, batch_size=32, shuffle=True))


if __name__ == "__main__":
    main()
