import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Linear(8, 16)
        self.critic = nn.Linear(16, 1)

    def configure_optimizers(self):
        g = torch.optim.Adam(self.generator.parameters(), lr=1e-4)
        d = torch.optim.Adam(self.critic.parameters(), lr=4e-4)
        return g, d

    def training_step(self, batch, batch_idx):
        (real,) = batch
        g, d = self.optimizers()
        fake = self.generator(torch.randn(len(real), 8, device=self.device))
        d_loss = self.critic(fake.detach()).mean() - self.critic(real).mean()
        d.zero_grad()
        d_loss.backward()
        d.step()
        g_loss = -self.critic(fake).mean()
        g.zero_grad()
        g_loss.backward()
        g.step()
        self.log_dict({"g": g_loss.detach(), "d": d_loss.detach()})


if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.randn(1024, 16)), batch_size=64)
    trainer = L.Trainer(accelerator="cpu", precision="16-mixed", max_epochs=2, logger=False)
    trainer.fit(Gan(), data)
