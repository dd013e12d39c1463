"""Code that looks at the gradients between backward and step sees them multiplied by the scale.

Run (torch 2.13, Lightning 2.6.6, float16 with a scale of 1024, one step): with `manual_backward` the skip of spikes
skips every step (moved 0 instead of 0.225), the hook that clamps at 0.05 leaves 1.4e-05 of 0.0141, `delta.grad` has
norm 548 instead of 0.535, the inner loop moves the weights by 115 instead of 0.112, and gradients that are set by hand
by 0.000276 instead of 0.283. As they stand all raise but the inner loop.
"""

import copy

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Base(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class SkipsSpikes(Base):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in self.net.parameters()]).norm()
        if norm < 10:
            opt.step()


class Attacked(Base):
    """Projected gradient descent on the input."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        delta = self.perturb(batch)
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0] + delta), batch[1])
        loss.backward()
        opt.step()

    def perturb(self, batch):
        delta = torch.zeros_like(batch[0], requires_grad=True)
        loss = F.mse_loss(self.net(batch[0] + delta), batch[1])
        loss.backward()
        return (0.5 * delta.grad).detach()


class InnerLoop(Base):
    """Model-agnostic meta-learning: the inner loop has an optimizer of its own."""

    def training_step(self, batch, batch_idx):
        fast = copy.deepcopy(self.net)
        inner = torch.optim.SGD(fast.parameters(), lr=0.1)
        loss = F.mse_loss(fast(batch[0]), batch[1])
        loss.backward()
        inner.step()
        for slow, quick in zip(self.net.parameters(), fast.parameters()):
            slow.data.lerp_(quick.data, 0.5)


class SetByHand(Base):
    """Gradients that come from elsewhere are divided by the scale, too."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        loss.backward()
        for p in self.net.parameters():
            p.grad = torch.sign(p)
        opt.step()


class Influence(Base):
    """Scores of examples by the gradients they make."""

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        for x, y in zip(*batch):
            self.zero_grad()
            loss = F.mse_loss(self.net(x), y)
            loss.backward()
            self.scores.append(score(self.net))
        opt.step()


def score(net):
    return sum(getattr(p, "grad").square().sum() for p in net.parameters())
