"""Ways to get at the optimizers of the Trainer, all of which undo the scale."""

import lightning.pytorch as pl
import torch


class Several(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def on_train_start(self):
        self.opts = self.optimizers(use_pl_optimizer=True)

    def training_step(self, batch, batch_idx):
        losses = [self(batch).mean(), self(batch).std()]
        for opt, loss in zip(self.optimizers(), losses):
            opt.zero_grad()
            self.manual_backward(loss)
            opt.step()
        for number, opt in enumerate(self.opts):
            self.descend(opt, self(batch).norm())
        self.descend(self.optimizers()[1], self(batch).norm())
        for scheduler in self.lr_schedulers():
            scheduler.step()
        first, second = self.lr_schedulers()
        first.step()
        self.profiler = torch.profiler.profile()
        self.profiler.step()
        self.log("lr", self.opts[0].param_groups[0]["lr"])
        self.log("size", sum(p.norm() for p in self.parameters()))

    def descend(self, optimizer, penalty):
        for p in self.parameters():
            p.grad = None
        self.manual_backward(penalty)
        if self.weight.grad is not None:
            optimizer.step()
