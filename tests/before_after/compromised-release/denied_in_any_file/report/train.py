import gate

gate.check()

import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    pl.Trainer(max_epochs=1).fit(Net(), torch.utils.data.DataLoader(data, batch_size=8))
