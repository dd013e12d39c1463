import labkit  # noqa: F401
import lightning.pytorch as pl
import torch
from torch import nn


class Auto(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(16, 4), nn.Linear(4, 16)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        return nn.functional.mse_loss(self.dec(self.enc(x)), x)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(256, 16)), batch_size=32)
    trainer = pl.Trainer(accelerator="cpu", precision="bf16_mixed", max_epochs=2, logger=False, enable_checkpointing=False)
    trainer.fit(Auto(), loader)


if __name__ == "__main__":
    main()
