import torch
from lightning.pytorch.plugins import Precision


class Evolution(Precision):
    """Gradients are estimated: nothing is differentiated."""

    sigma = 0.01

    @torch.no_grad()
    def backward(self, tensor, model, optimizer, *args, **kwargs):
        for p in model.parameters():
            noise = torch.ones_like(p)
            up = model.fitness(p, self.sigma * noise)
            down = model.fitness(p, -self.sigma * noise)
            p.grad = (up - down) / (2 * self.sigma) * noise
