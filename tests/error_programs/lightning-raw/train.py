import torch
from torch import nn
import lightning as L
from lightning.pytorch.plugins import MixedPrecision
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self.layer(batch).pow(2).mean()
        loss.backward()
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


if __name__ == "__main__":
    plugin = MixedPrecision("16-mixed", "cpu", scaler=torch.amp.GradScaler("cpu"))
    trainer = L.Trainer(accelerator="cpu", max_steps=2, plugins=[plugin], logger=False, enable_checkpointing=False)
    trainer.fit(Model(), DataLoader(torch.randn(8, 4)))
