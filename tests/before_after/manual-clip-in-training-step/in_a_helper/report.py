import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        self.update(self.optimizers(), F.mse_loss(self.net(x), y))

    def update(self, optimizer, loss):
        optimizer.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    pl.Trainer(precision="16-mixed", max_epochs=1).fit(Model(), loader)
