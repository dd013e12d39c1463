"""Objects with a `backward` of their own, whatever they are called."""

import lightning.pytorch as pl
from balancing import make_balancer


class Balanced(pl.LightningModule):
    def __init__(self, loss_balancer, total_loss):
        super().__init__()
        self.automatic_optimization = False
        self.loss_balancer = loss_balancer
        self.total_loss = total_loss
        self.weighted_loss = make_balancer()

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        y = self(batch)
        losses = self.losses(y)
        self.loss_balancer.backward(losses, y)
        self.total_loss.backward()
        self.weighted_loss.backward()
        losses["balanced"].backward(losses, y)
        opt.step()
