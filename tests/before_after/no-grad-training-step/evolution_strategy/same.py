"""Gradients are estimated by hand and `backward` does nothing: `training_step` is without gradients on purpose."""

import lightning as L
import torch


class EvolutionStrategy(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        noise = torch.randn_like(self.net.weight)
        self.net.weight.add_(0.1 * noise)
        loss = self.net(batch).pow(2).mean()
        self.net.weight.sub_(0.1 * noise)
        self.net.weight.grad = noise * loss
        return loss

    def backward(self, loss):
        pass

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
