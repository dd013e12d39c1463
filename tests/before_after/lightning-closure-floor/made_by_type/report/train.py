import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from optimizers import SafeAdafactor


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(16, 4)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return SafeAdafactor(self.parameters(), scale_parameter=False, relative_step=False, lr=1e-3)


if __name__ == "__main__":
    data = TensorDataset(torch.randn(64, 16), torch.randint(4, (64,)))
    pl.Trainer(accelerator="cpu", max_epochs=1, logger=False).fit(Classifier(), DataLoader(data, batch_size=16))
