import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.one, self.two = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        first, second = [each.optimizer for each in self.optimizers()]
        first.zero_grad()
        second.zero_grad()
        self.manual_backward(F.mse_loss(self.two(self.one(x)), y))
        first.step()
        second.step()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.one.parameters(), lr=0.1), torch.optim.SGD(self.two.parameters(), lr=0.1)]
