try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl


class Saved(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.train_loss = self.compute(batch)
        self.train_loss.backward()
        opt.step()
