import lightning.pytorch as pl
import torch.nn.functional as F


class Regression(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(F.mse_loss(self(batch[0]), batch[1]))
        opt.step()
