import lightning as L
import torch


class Regressor(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()


model = Regressor()
model.automatic_optimization = False
