import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers.optimization import Adafactor


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        optimizer = Adafactor(self.parameters(), lr=1e-3, relative_step=False, scale_parameter=False)
        step = optimizer.step

        def with_gradients(closure=None):
            return step(closure and torch.enable_grad()(closure))

        optimizer.step = with_gradients
        return optimizer


def main():
    data = TensorDataset(torch.randn(64, 16), torch.randint(2, (64,)))
    trainer = pl.Trainer(accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False)
    trainer.fit(Module(), DataLoader(data, batch_size=8))


if __name__ == "__main__":
    main()
