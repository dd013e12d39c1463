import hydra
import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from torch import nn

from precision import resolve


class Model(pl.LightningModule):
    def __init__(self, lr, features=32):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    pl.seed_everything(cfg.seed)
    resolve(cfg.trainer)
    trainer = hydra.utils.instantiate(cfg.trainer)
    data = torch.utils.data.TensorDataset(torch.randn(256, 32), torch.randn(256, 1))
    trainer.fit(Model(cfg.lr), torch.utils.data.DataLoader(data, batch_size=32))


if __name__ == "__main__":
    main()
