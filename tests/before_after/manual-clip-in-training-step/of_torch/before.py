# fixer: unsafe
import pytorch_lightning as pl
import torch
from pytorch_lightning import Trainer


class Net(pl.LightningModule):
    automatic_optimization = False

    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self.net(batch).mean()
        self.manual_backward(loss)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), max_norm=1.0)
        opt.step()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.net.parameters())


trainer = Trainer(precision=16, strategy="ddp", devices=2, accelerator="gpu")
