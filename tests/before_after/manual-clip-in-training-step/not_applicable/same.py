import lightning as L
import torch
from somewhere import *
from torch.nn.utils import clip_grad_norm_


class Shadow(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx, clip_grad_norm_=None):  # shadow: a parameter of that name
        opt = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        clip_grad_norm_(self.parameters(), 1.0)
        opt.step()


class Star(Base):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):  # star: nobody knows what the class of an import is
        opt = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        clip_grad_norm_(self.parameters(), 1.0)
        opt.step()


class Splat(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx, *args, **options):
        opt = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        clip_grad_norm_(*args)  # splat: of whatever it is
        self.clip_gradients(opt, **options)  # keyword: the bound may be None
        opt.step()


class Raw(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.net(batch).mean().backward()
        clip_grad_norm_(self.parameters(), 1.0)
        opt.step()


class Loop:
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        clip_grad_norm_(self.parameters(), 1.0)
        opt.step()


trainer = L.Trainer(precision="16-mixed")
