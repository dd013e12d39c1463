import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Policy(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1, bias=False)

    def fitness(self, p, delta):
        p.add_(delta)
        value = F.mse_loss(self.net(self.batch[0]), self.batch[1])
        p.sub_(delta)
        return value

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        self.batch = batch
        return self.fitness(self.net.weight, torch.zeros_like(self.net.weight))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
