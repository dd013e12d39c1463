from my_toolbox import *
from lightning.pytorch import *


class Unknown(LightningModule):
    """Who brings the name is anybody's guess."""

    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        loss.backward()
