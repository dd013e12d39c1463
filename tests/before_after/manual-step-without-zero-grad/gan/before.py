# fixer: unsafe
import lightning.pytorch as pl
import torch


class Gan(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        self.toggle_optimizer(opt_d)
        self.manual_backward(self.real_loss(batch))
        self.manual_backward(self.fake_loss(batch))
        opt_d.step()
        self.untoggle_optimizer(opt_d)
        if batch_idx % 5 == 0:
            g_loss = self.generator_loss(batch)
            g_loss.backward()
            opt_g.step()


class OneWithHelper(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self._update(self(batch).mean())

    def _update(self, loss):
        opt = self.optimizers()
        sch = self.lr_schedulers()
        self.manual_backward(loss); opt.step(); sch.step()


class Accumulating(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self(batch).mean() / self.hparams.accumulate
        self.manual_backward(loss)
        if (batch_idx + 1) % self.hparams.accumulate == 0:
            self.clip_gradients(opt, gradient_clip_val=1.0)
            opt.step()


class MicroBatches(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers(use_pl_optimizer=True)
        # all parts of the batch, then one step
        for part in batch.chunk(4):
            self.manual_backward(self(part).mean() / 4)
        opt.step()


class Every(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        self.manual_backward(loss)
        for opt in self.optimizers():
            opt.step()


class Some(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opts = self.optimizers()
        body, head = opts[0], opts[1]
        loss = self(batch).mean()
        self.manual_backward(loss)
        for opt in (body, head):
            opt.step()


class Half(pl.LightningModule):
    """Only one of the two is forgotten."""

    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        opt_g.zero_grad()
        self.manual_backward(self.generator_loss(batch))
        opt_g.step()
        self.manual_backward(self.real_loss(batch))
        opt_d.step()


class Inline(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self(batch).mean())
        self.optimizers().step()
