import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Bank:
    def __init__(self, size):
        self.size = size
        self.rows = []

    def add(self, loss, rows):
        self.rows.extend(rows)
        del self.rows[: -self.size]
        self.last = loss


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 8)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Collector(Classifier):
    def __init__(self):
        super().__init__()
        self.bank = Bank(1024)

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        return self.bank.add(loss, logits)


if __name__ == "__main__":
    loader = DataLoader(TensorDataset(torch.randn(256, 16), torch.randint(8, (256,))), batch_size=32)
    settings = dict(accelerator="cpu", logger=False, enable_checkpointing=False)
    model = Classifier()
    L.Trainer(max_epochs=2, **settings).fit(model, loader)
    collector = Collector()
    collector.load_state_dict(model.state_dict())
    L.Trainer(max_epochs=1, **settings).fit(collector, loader)
    print(len(collector.bank.rows))
