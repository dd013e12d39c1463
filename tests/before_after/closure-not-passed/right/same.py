"""Overrides of `optimizer_step` that hand the closure on, or that the Trainer does not run."""

import lightning as L
import torch
from torch import nn


class Base(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Delegates(Base):
    def optimizer_step(self, *args, **kwargs):
        super().optimizer_step(*args, **kwargs)


class DelegatesByName(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)


class HandsOn(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        if self.trainer.global_step < 500:
            for group in optimizer.param_groups:
                group["lr"] = self.trainer.global_step / 500
        optimizer.step(closure=optimizer_closure)


class HandsOnByPosition(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step(optimizer_closure)


class EveryOther(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if batch_idx % 2 == 0:
            optimizer.step(closure=optimizer_closure)
        else:
            optimizer_closure()  # run the closure, do not step


class Beside(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if epoch < 3:
            optimizer.step(closure=optimizer_closure)
        else:
            optimizer.step()


class Adversarial(Base):
    def optimizer_step(
        self,
        epoch,
        batch_idx,
        optimizer,
        optimizer_idx,
        optimizer_closure,
        on_tpu=False,
        using_native_amp=False,
        using_lbfgs=False,
    ):
        if optimizer_idx == 0:
            optimizer.step(closure=optimizer_closure)
        if optimizer_idx == 1:
            if batch_idx % 5 == 0:
                optimizer.step(closure=optimizer_closure)
            else:
                optimizer_closure()


class Wraps(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        def timed():
            loss = optimizer_closure()
            self.log("scale", 1.0)
            return loss

        optimizer.step(timed)


class Several(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        loss = optimizer_closure()
        if loss is not None:
            optimizer.step()


class ByHand(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(super().training_step(batch, batch_idx))
        self.optimizer_step(0, batch_idx, optimizer, None)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()


class ByHandAndCalls(Base):
    automatic_optimization = False

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()
