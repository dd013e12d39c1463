import torch
from torch import nn
import lightning as L
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def test_step(self, batch, batch_idx):
        with torch.enable_grad():
            loss = self.layer(batch).pow(2).mean()
            loss.backward()
        self.log("slope", self.layer.weight.grad.norm())


if __name__ == "__main__":
    trainer = L.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.test(Model(), DataLoader(torch.randn(8, 4)))
