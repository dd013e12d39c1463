# fixer: with=GRD002
import lightning.pytorch as pl
import torch.nn.functional as F


class Both(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = F.mse_loss(self(batch[0]), batch[1])
        self.manual_backward(loss)
        opt.step()
