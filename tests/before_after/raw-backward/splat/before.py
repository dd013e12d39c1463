import lightning as L
import torch


class Splat(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx, *args, **kwargs):
        loss = self(batch).mean()
        loss.backward(*args, **kwargs)
        for optimizer in self.optimizers():
            optimizer.step()
