import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

from module import Net

if __name__ == "__main__":
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(Net(), DataLoader(TensorDataset(torch.randn(16, 4)), batch_size=4))
