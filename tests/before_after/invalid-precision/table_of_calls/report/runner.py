import lightning as L
import torch
from torch import nn


class Head(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.fc(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def run(precision):
    trainer = L.Trainer(accelerator="cpu", precision=precision, max_steps=2, logger=False, enable_checkpointing=False)
    data = torch.utils.data.TensorDataset(torch.randn(8, 8), torch.zeros(8, dtype=torch.long))
    trainer.fit(Head(), torch.utils.data.DataLoader(data, batch_size=4))
    return trainer
