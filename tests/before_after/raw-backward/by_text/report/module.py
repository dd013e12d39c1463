import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Autoencoder(pl.LightningModule):
    automatic_optimization = False

    def __init__(self, width=8):
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(width, 4), torch.nn.Linear(4, width)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = F.mse_loss(self.decoder(self.encoder(batch)), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)
