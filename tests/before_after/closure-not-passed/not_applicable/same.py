import lightning as L
import torch
from somewhere import *


class Loop:
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):  # shadow: nobody's hook
        optimizer.step()


class Network(torch.nn.Module):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()


class Starred(LightningModule):  # star: nobody knows what the import brings
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()


class Splat(L.LightningModule):
    def optimizer_step(self, *args, **kwargs):  # splat: the closure is among them
        args[2].step(*args[3:])


class SplatInCall(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, *closure):  # splat: the same
        optimizer.step(*closure)


class Keyword(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step(**{"closure": optimizer_closure})  # keyword: hidden in a dictionary


class KeywordGiven(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, **kwargs):  # keyword: the closure is in it
        optimizer.step(**kwargs)


class Rebound(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer = self.own_optimizer  # bound anew
        optimizer.step()


class ReboundClosure(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure = self.prepare
        optimizer_closure()
        optimizer.step()


class ReboundInside(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        def swap():
            nonlocal optimizer
            optimizer = self.own_optimizer

        swap()
        optimizer_closure()
        optimizer.step()


class Inner(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        def step(optimizer):
            optimizer.step()

        self.around(step, optimizer_closure)


class Other(L.LightningModule):
    def step_it(self, epoch, batch_idx, optimizer, optimizer_closure):  # no hook of Lightning
        optimizer.step()


class Another(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        self.own_optimizer.step()
        optimizer.step(optimizer_closure)


class Sometimes(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if batch_idx % 2:  # with the closure it would still raise where it does not step
            optimizer.step()


class Twice(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        for _ in range(2):  # with the closure it would run the training step twice
            optimizer.step()


class Returns(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if epoch == 0:
            return
        optimizer.step()


class Caught(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        try:  # with the closure it would swallow what training_step raises
            optimizer.step()
        except RuntimeError:
            optimizer.zero_grad()


class InFinally(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        try:
            self.report(optimizer)
        finally:
            optimizer.step()


class Between(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        optimizer.step()


class Decorated(L.LightningModule):
    @counted
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()


class Named(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_i):  # before 1.0: no closure yet
        optimizer.step()


# Lightning 1.x gives other parameters; before 1.0 there was no closure but for LBFGS.
class Old(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False):
        optimizer_closure()
        optimizer.step()


class OldAlone(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, closure=None, **kwargs):
        optimizer.step()


class Oldest(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, second_order_closure=None):
        optimizer.step()
        optimizer.zero_grad()
