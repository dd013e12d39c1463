import lightning.pytorch as pl
import torch


class Synthetic(pl.LightningDataModule):
    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def train_dataloader(self):
        return torch.utils.data.DataLoader(self.batches, batch_size=None)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        for group in self.trainer.optimizers[0].param_groups:
            for p in group["params"]:
                p.grad = None
        return batch
