import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.cli import LightningCLI


class Net(L.LightningModule):
    def __init__(self, width: int = 64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Data(L.LightningDataModule):
    def __init__(self, batch_size: int = 64):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        rows = torch.utils.data.TensorDataset(torch.randn(2048, 20), torch.randn(2048, 1))
        return torch.utils.data.DataLoader(rows, batch_size=self.batch_size, shuffle=True)


def main():
    LightningCLI()


if __name__ == "__main__":
    main()
