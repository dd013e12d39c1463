import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


class BaseTask(L.LightningModule):
    peak_lr = 1e-2

    def loss(self, batch):
        raise NotImplementedError

    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.peak_lr)
        schedule = OneCycleLR(
            optimizer, self.peak_lr, total_steps=self.trainer.estimated_stepping_batches
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule}}


class Classification(BaseTask):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def loss(self, batch):
        x, y = batch
        return F.cross_entropy(self.net(x), y, label_smoothing=0.1)

    def configure_optimizers(self):
        config = super().configure_optimizers()
        config["lr_scheduler"]["interval"] = "step"
        return config


def loader(n=640, batch=32):
    return DataLoader(TensorDataset(torch.randn(n, 16), torch.randint(0, 4, (n,))), batch_size=batch)


if __name__ == "__main__":
    trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(Classification(), loader())
