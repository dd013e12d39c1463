import lightning.pytorch as pl


class Shadowed(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self = self.inner
        loss = self(batch).mean()
        loss.backward()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        def closure(self):
            loss = self(batch).mean()
            loss.backward()

        return closure


def build(pl):
    class Local(pl.LightningModule):
        automatic_optimization = False

        def training_step(self, batch, batch_idx):
            loss = self(batch).mean()
            loss.backward()

    return Local
