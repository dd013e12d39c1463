import lightning.pytorch as pl


class Splat(pl.LightningModule):
    """What the call hands over may zero the gradients."""

    automatic_optimization = False

    def training_step(self, batch, batch_idx, *args, **kwargs):
        opt = self.optimizers()
        first, *others = self.optimizers()
        self.manual_backward(self(batch).mean())
        opt.step(*args)
        opt.step(**kwargs)
        opt.step(closure=self.closure)
        first.step()
