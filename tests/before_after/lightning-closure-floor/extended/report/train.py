import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from optim import ClosureFirst


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return ClosureFirst(self.parameters(), scale_parameter=False, relative_step=False, lr=1e-3)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(64, 16), torch.randint(4, (64,)))
    pl.Trainer(accelerator="cpu", max_epochs=2, logger=False).fit(
        Net(), torch.utils.data.DataLoader(data, batch_size=8)
    )
