"""A copy of the network is fitted with an optimizer of torch, in float32: no scaler sees its gradients."""

import copy

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Adapted(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def adapt(self, x, y):
        learner = copy.deepcopy(self.net)
        optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
        with torch.autocast(x.device.type, enabled=False):
            for _ in range(3):
                optimizer.zero_grad()
                loss = F.mse_loss(learner(x), y)
                loss.backward()
                optimizer.step()
        return learner

    def training_step(self, batch, batch_idx):
        support, query = batch
        opt = self.optimizers()
        target = self.adapt(*support)(query[0]).detach()
        loss = F.mse_loss(self.net(query[0]), target)
        opt.zero_grad()
        self.manual_backward(loss)
        opt.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


trainer = pl.Trainer(precision="16-mixed", max_epochs=1)
