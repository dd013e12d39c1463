import lightning as L
import torch as th
import torch.nn.functional as F
from torch import nn


class MeanTeacher(L.LightningModule):
    def __init__(self, features=8):
        super().__init__()
        self.automatic_optimization = False
        self.student = nn.Sequential(nn.Linear(features, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.student(x)

    @th.no_grad()
    def targets(self, x):
        result = self(x)
        th.clear_autocast_cache()
        return result

    def shared_loss(self, x):
        target = self.targets(x)
        return F.mse_loss(self.student(x + 0.1), target + 1.0)

    def training_step(self, batch, batch_idx):
        x, _ = batch
        optimizer = self.optimizers()
        loss = self.shared_loss(x)
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        self.log("loss", loss)

    def configure_optimizers(self):
        return th.optim.SGD(self.parameters(), lr=0.1)


def main(loader, args):
    trainer = L.Trainer(precision=args.precision, max_epochs=1)
    trainer.fit(MeanTeacher(), loader)
