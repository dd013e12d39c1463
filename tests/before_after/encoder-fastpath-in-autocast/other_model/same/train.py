from lightning.pytorch import LightningModule, Trainer
from torch import nn

from net import Net


class Linear(LightningModule):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Linear(features, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.net(batch).mean())


trainer = Trainer(accelerator="cpu", precision="bf16-mixed")
trainer.fit(Linear(32))
print(Net(32))
