import lightning as L
import torch
import torch.nn.functional as F
from torch import nn

from reference import net, wanted


class Distilled(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"fast": net(), "slow": net()})

    @torch.no_grad()
    def _loss(self, x):
        return F.cross_entropy(self.parts["fast"](x), wanted(self.parts, x))

    def training_step(self, batch, batch_idx):
        return self._loss(batch[0])

    def on_train_batch_end(self, outputs, batch, batch_idx):
        with torch.no_grad():
            for s, f in zip(self.parts["slow"].parameters(), self.parts["fast"].parameters()):
                s.lerp_(f, 0.01)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)
