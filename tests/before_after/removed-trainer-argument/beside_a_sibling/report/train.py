import lightning.pytorch as pl
import torch
from runners import Former


class Short(pl.Trainer):
    def __init__(self, **options):
        super().__init__(
            max_epochs=1,
            logger=False,
            checkpoint_callback=False,
            replace_sampler_ddp=False,
            **options,
        )


class ShortRun(Short, Former):
    """What the nightly job makes."""


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    ShortRun(accelerator="cpu").fit(Net(), torch.utils.data.DataLoader(torch.randn(32, 8)))
