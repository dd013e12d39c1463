import lightning.pytorch as pl
import torch


class ZerothOrderModule(pl.LightningModule):
    """Gradients from two evaluations (SPSA) in place of back-propagation."""

    epsilon = 1e-3

    def objective(self, batch):
        raise NotImplementedError

    @torch.no_grad()
    def shift(self, directions, factor):
        for p, z in zip(self.parameters(), directions):
            p.add_(z, alpha=factor * self.epsilon)

    @torch.no_grad()
    def backward(self, loss, *args, **kwargs):
        directions = [torch.randn_like(p) for p in self.parameters()]
        self.shift(directions, 1)
        up = self.objective(self.batch)
        self.shift(directions, -2)
        down = self.objective(self.batch)
        self.shift(directions, 1)
        slope = (up - down) / (2 * self.epsilon)
        for p, z in zip(self.parameters(), directions):
            p.grad = slope * z
