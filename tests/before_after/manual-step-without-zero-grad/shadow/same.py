import lightning.pytorch as pl


class Shadowed(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self._step(opt, batch)
        opt = self.other(opt)
        self.manual_backward(self(batch).mean())
        opt.step()

    def _step(self, opt, batch):
        self.manual_backward(self(batch).mean())
        opt.step()


def build(pl):
    class Local(pl.LightningModule):
        automatic_optimization = False

        def training_step(self, batch, batch_idx):
            opt = self.optimizers()
            self.manual_backward(self(batch).mean())
            opt.step()

    return Local
