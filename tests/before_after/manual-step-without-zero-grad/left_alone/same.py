import lightning.pytorch as pl
import torch

from my_project.training import descend


class Zeroed(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        for opt in self.optimizers():
            opt.zero_grad()
        self.manual_backward(self(batch).mean())
        opt_g.step()
        opt_d.step()


class ZeroedByModule(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(self(batch).mean())
        opt.step()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.zero_grad(set_to_none=True)


class ZeroedByHand(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        for p in self.parameters():
            p.grad = None
        self.manual_backward(self(batch).mean())
        opt.step()


class ZeroedInClosure(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()

        def closure():
            opt.zero_grad()
            loss = self(batch).mean()
            self.manual_backward(loss)
            return loss

        opt.step(closure=closure)


class HandedOn(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        descend(opt, self(batch).mean())
        self.manual_backward(self(batch).mean())
        opt.step()


class Heir(Zeroed):
    def training_step(self, batch, batch_idx):
        super().training_step(batch, batch_idx)
        opt = self.optimizers()
        self.manual_backward(self(batch).mean())
        opt.step()


class Automatic(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.step()
        return self(batch).mean()


class OtherSteps(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self(batch).mean())
        self.lr_schedulers().step()
        self.env.step(batch)
        self.trainer.optimizers[0].step()
        for opt in self.build_optimizers():
            opt.step()


class Wrapped(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt = opt.optimizer
        self.manual_backward(self(batch).mean())
        opt.step()


def plain(model, optimizer, batch):
    model(batch).mean().backward()
    optimizer.step()
