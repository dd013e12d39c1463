# fixer: unsafe
import lightning as L
import torch
import torch.nn.functional as F


class ByForward(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)
        self.loss = torch.nn.L1Loss()

    @torch.no_grad()
    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        prediction = self(x)
        loss = self.loss(prediction, y)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Partly(ByForward):
    def training_step(self, batch, batch_idx):
        x = self.augment(batch)
        with torch.no_grad():
            loss = F.mse_loss(self.net(x), batch[1])
        return loss


class Distilled(ByForward):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.net(batch[0]), self.teacher(batch[0]))
