import lightning as L
import torch
from elsewhere import Base


class Clips(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        optimizer.step()


class Looks(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if optimizer.param_groups[0]["params"][0].grad is not None:
            print("a gradient")
        optimizer.step()


class Logs(L.LightningModule):
    def log(self, name, value):
        print(name, self.norm())

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        self.log("scale", 1.0)
        optimizer.step()


class Unseen(Base, L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()


class Chosen(L.LightningModule):
    def __init__(self, by_hand):
        super().__init__()
        self.automatic_optimization = not by_hand

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()
