"""Mini-batch k-means as a LightningModule, so that checkpoints and loggers are those of the other models."""
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class KMeans(L.LightningModule):
    def __init__(self, k=4, width=2):
        super().__init__()
        self.centers = nn.Embedding(k, width)
        self.register_buffer("counts", torch.zeros(k, 1))

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        (x,) = batch
        nearest = torch.cdist(x, self.centers.weight).argmin(1)
        loss = F.mse_loss(self.centers(nearest), x)
        hits = F.one_hot(nearest, self.counts.shape[0]).to(x)
        self.counts += hits.sum(0).unsqueeze(1)
        step = hits.T @ x - hits.sum(0).unsqueeze(1) * self.centers.weight
        self.centers.weight.data += step / self.counts.clamp(min=1)
        self.log("inertia", loss)
        return loss.requires_grad_()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1.0)


def main():
    torch.manual_seed(0)
    x = torch.cat([torch.randn(32, 2) + 4 * torch.tensor([a, b]) for a in (0.0, 1.0) for b in (0.0, 1.0)])
    model = KMeans()
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(model, DataLoader(TensorDataset(x), batch_size=32, shuffle=True))
    print(model.centers.weight)


if __name__ == "__main__":
    main()
