import lightning.pytorch as pl


class InHelper(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.differentiate(batch)
        opt.step()

    def differentiate(self, batch):
        self.manual_backward(self(batch).mean())


class Guarded(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(self(batch).mean())
        if self.global_step > 100:
            opt.step()


class Late(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self(batch).mean())
        opt = self.optimizers()
        opt.step()


class InClosure(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()

        def closure():
            loss = self(batch).mean()
            self.manual_backward(loss)
            return loss

        opt.step(closure)
