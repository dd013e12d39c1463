import pytorch_lightning


class Shadowed(pytorch_lightning.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        def hook(self, grad):
            loss = self(grad).mean()
            loss.backward()

        self.register_hook(hook)


def build(pl):
    class Local(pl.LightningModule):
        automatic_optimization = False

        def training_step(self, batch, batch_idx):
            loss = self(batch).mean()
            loss.backward()

    return Local
