import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Pixels(pl.LightningDataModule):
    def __init__(self, batch_size: int = 64):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.rand(2048, 784)), batch_size=self.batch_size)


class Autoencoder(pl.LightningModule):
    def __init__(self, width: int = 64, lr: float = 1e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(784, width), nn.GELU(), nn.Linear(width, 784))

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.net(batch[0]), batch[0])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)
