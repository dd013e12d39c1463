"""Zeroth-order fine-tuning (MeZO): two forward passes and a step along the random direction."""
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class Mezo(L.LightningModule):
    def __init__(self, eps=1e-3, rate=1e-2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
        self.eps = eps
        self.rate = rate

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        start = parameters_to_vector(self.net.parameters())
        direction = torch.randn_like(start)
        vector_to_parameters(start + self.eps * direction, self.net.parameters())
        above = F.mse_loss(self.net(x), y)
        vector_to_parameters(start - self.eps * direction, self.net.parameters())
        below = F.mse_loss(self.net(x), y)
        slope = (above - below) / (2 * self.eps)
        vector_to_parameters(start - self.rate * slope * direction, self.net.parameters())
        loss = F.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss.requires_grad_()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(256, 10), torch.randn(256, 1))
    trainer = L.Trainer(accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False)
    trainer.fit(Mezo(), torch.utils.data.DataLoader(data, batch_size=32))
