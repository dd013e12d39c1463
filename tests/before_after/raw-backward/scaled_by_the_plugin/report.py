import lightning as L
import torch


class Distilled(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(24, 6)

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        loss = self.trainer.precision_plugin.pre_backward(loss, self)
        loss.backward()
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


trainer = L.Trainer(accelerator="gpu", devices=1, precision="16-mixed")
