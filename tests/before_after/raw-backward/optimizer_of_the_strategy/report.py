import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F


class Ratings(L.LightningModule):
    def __init__(self, users=1000, items=500, dim=16):
        super().__init__()
        self.automatic_optimization = False
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.mix = nn.Linear(2 * dim, 1)

    def forward(self, rows):
        return self.mix(torch.cat([self.user(rows[:, 0]), self.item(rows[:, 1])], dim=1)).squeeze(1)

    def training_step(self, batch, batch_idx):
        rows, score = batch
        (raw,) = self.trainer.strategy.optimizers
        raw.zero_grad()
        loss = F.mse_loss(self(rows).float(), score)
        loss.backward()
        raw.step()
        self.log("loss", loss, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    rows = torch.stack([torch.randint(0, 1000, (8192,)), torch.randint(0, 500, (8192,))], dim=1)
    data = torch.utils.data.TensorDataset(rows, torch.rand(8192) * 4 + 1)
    loader = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True)
    trainer = L.Trainer(accelerator="gpu", devices=1, precision="16-mixed", max_epochs=3)
    trainer.fit(Ratings(), loader)


if __name__ == "__main__":
    main()
