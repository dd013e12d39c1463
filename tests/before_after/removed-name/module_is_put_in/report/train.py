import shims
import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.seed import seed_everything
from torch import nn


class Diffuser(pl.LightningModule):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, 256), nn.SiLU(), nn.Linear(256, dim))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        t = torch.rand(len(x), 1, device=self.device)
        noise = torch.randn_like(x)
        return nn.functional.mse_loss(self.net(torch.cat([(1 - t) * x + t * noise, t], 1)), noise - x)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)


def main():
    seed_everything(17)
    model = Diffuser()
    data = torch.utils.data.TensorDataset(torch.load("latents.pt"))
    trainer = pl.Trainer(max_steps=40_000, accelerator="gpu", devices=4, strategy="ddp", use_distributed_sampler=False)
    trainer.fit(model, torch.utils.data.DataLoader(data, 256, shuffle=True))


if __name__ == "__main__":
    main()
