from lightning.pytorch import *
from my_toolbox import *


class Unknown(LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        self.manual_backward(self(batch).mean())
        opt.step()
