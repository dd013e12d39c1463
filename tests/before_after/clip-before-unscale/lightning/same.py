import lightning.pytorch as pl
import torch
from torch.nn.utils import clip_grad_norm_


class Gan(pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.automatic_optimization = False
        self.scaler = torch.amp.GradScaler("cuda")

    def training_step(self, batch):
        optimizer = self.optimizers()
        self.scaler.scale(self.net(batch)).backward()
        clip_grad_norm_(self.net.parameters(), 1.0)
        self.scaler.step(optimizer)
        self.scaler.update()

    def owned(self, loss, optimizer):
        scaler = self.trainer.precision_plugin.scaler
        scaler.scale(loss).backward()
        clip_grad_norm_(self.net.parameters(), 1.0)
        scaler.step(optimizer)
