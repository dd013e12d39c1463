import lightning as L
import torch
import torch.nn.functional as F


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.layer(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    L.Trainer(max_epochs=1).fit(Net(), torch.utils.data.DataLoader(data, batch_size=8))
