import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(pl.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    data = torch.utils.data.TensorDataset(torch.randn(4096, 1, 28, 28), torch.randint(0, 10, (4096,)))
    loader = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True)
    trainer = pl.Trainer(accelerator="gpu", devices=1, precision=16, max_epochs=5)
    trainer.fit(Classifier(), loader)


if __name__ == "__main__":
    main()
