import lightning as L
import torch


class Sparse(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(20, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        self.manual_backward(torch.nn.functional.mse_loss(self.net(x), y))
        optimizer.step()
        for parameter in self.parameters():
            del parameter.grad

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
