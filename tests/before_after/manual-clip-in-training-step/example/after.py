# fixer: unsafe
import lightning as L
import torch
import torch.nn.functional as F


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.linear = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.linear(x), y)
        self.manual_backward(loss)
        opt.step()
        return loss

    def on_before_optimizer_step(self, optimizer):
        self.clip_gradients(optimizer, gradient_clip_val=0.1, gradient_clip_algorithm="norm")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def train(loader):
    L.Trainer(accelerator="gpu", precision="16-mixed").fit(Regression(), loader)
