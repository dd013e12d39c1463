import lightning as L
import torch
import torch.nn.functional as F


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    dataset = torch.utils.data.TensorDataset(torch.randn(128, 8), torch.randn(128, 1))
    trainer = L.Trainer(accelerator="gpu", devices=1, precision=16, max_epochs=50)
    trainer.fit(Net(), torch.utils.data.DataLoader(dataset, batch_size=16))
