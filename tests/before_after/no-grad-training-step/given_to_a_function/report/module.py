import lightning as L
import torch
import torch.nn.functional as F

from slow import targets


class Bootstrap(L.LightningModule):
    slow_name = "nets.slow"

    def __init__(self):
        super().__init__()
        self.nets = torch.nn.ModuleDict({"fast": torch.nn.Linear(4, 2), "slow": torch.nn.Linear(4, 2)})

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        a, b = batch
        return F.mse_loss(self.nets["fast"](a), targets(self, b))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def on_train_epoch_end(self):
        with torch.no_grad():
            self.nets["slow"].weight.lerp_(self.nets["fast"].weight, 0.0)
