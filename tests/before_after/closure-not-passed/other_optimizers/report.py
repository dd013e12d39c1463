import lightning as L
import torch
from lion_pytorch import Lion


class Library(L.LightningModule):
    def configure_optimizers(self):
        if self.hparams.lion:
            return Lion(self.parameters(), lr=1e-4)
        return torch.optim.AdamW(self.parameters())

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()


class Chosen(L.LightningModule):
    def configure_optimizers(self):
        return self.hparams.optimizer(params=self.parameters())

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()
