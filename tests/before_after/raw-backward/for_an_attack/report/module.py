import lightning.pytorch as pl
import torch
import torch.nn.functional as F

from attack import AttackMixin


class Robust(AttackMixin, pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        hard = self.attack(x, y)
        loss = F.cross_entropy(self(hard), y)
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
