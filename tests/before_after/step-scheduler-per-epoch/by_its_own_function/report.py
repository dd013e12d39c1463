import lightning.pytorch as pl
import torch
from torch.optim.lr_scheduler import LambdaLR


class Counted(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        scheduler = self.warmed_up(optimizer, self.hparams.warmup_steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "name": "rate"}}

    @staticmethod
    def warmed_up(optimizer, warmup_steps):
        def factor(current):
            return min(1.0, current / max(1, warmup_steps))

        return LambdaLR(optimizer, factor)


class ByEpochs(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return [optimizer], [LambdaLR(optimizer, lambda epoch: 0.95**epoch)]


class OfNoNames(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return [optimizer], [LambdaLR(optimizer, lambda n: min(1.0, n / 5))]
