import lightning.pytorch as pl
import torch
import torch.nn.functional as F

from precision import half


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(16, 4)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        x, y = batch
        opt.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    pl.Trainer(accelerator="gpu", devices=1, plugins=[half()], max_epochs=3).fit(Net(), loader)
