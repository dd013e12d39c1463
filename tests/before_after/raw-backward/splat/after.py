import lightning as L
import torch


class Splat(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx, *args, **kwargs):
        loss = self(batch).mean()
        self.manual_backward(loss, *args, **kwargs)
        for optimizer in self.optimizers():
            optimizer.step()
