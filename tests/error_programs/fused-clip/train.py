import torch
from torch import nn
import lightning as L
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), fused=True)


if __name__ == "__main__":
    options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = L.Trainer(accelerator="cpu", max_steps=2, precision="bf16-mixed", gradient_clip_val=1.0, **options)
    trainer.fit(Model(), DataLoader(torch.randn(8, 4)))
