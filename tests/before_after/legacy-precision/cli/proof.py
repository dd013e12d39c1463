"""LightningCLI reads the old number from YAML, and Lightning says that it is only taken for history's sake.

On a CPU Lightning itself turns float16 into bfloat16, before and after alike.
"""

import sys
import types

import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI

from codemods.verify.observe import batches, watch

SYMPTOM = "is supported for historical reasons but its usage is discouraged"
HERE = ("accelerator=cpu", "devices=1", "max_epochs=1", "logger=false", "enable_checkpointing=false")


class Model(LightningModule):
    """What the configuration names; `precision` is its own affair."""

    def __init__(self, precision: int = 32) -> None:
        super().__init__()
        self.net = torch.nn.Linear(8, 1)
        self.losses = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(batches(), batch_size=None)


def run(case):
    """What `main.py` does with `fit --config configs/fit.yaml`, on the one CPU that there is."""
    sys.modules["project"] = types.ModuleType("project")
    sys.modules["project"].Model = Model
    Model.__module__ = "project"
    config = str(case / "configs" / "fit.yaml")
    cli = LightningCLI(args=["--config", config, *(f"--trainer.{option}" for option in HERE)], run=False)
    with watch(cli.model) as seen:
        cli.trainer.fit(cli.model)
    seen.losses = cli.model.losses
    return seen


def reference(case):
    """The same training in bfloat16, without Lightning."""
    torch.manual_seed(7)
    model = Model()
    optimizer = model.configure_optimizers()
    with watch(model) as seen:
        for x, y in batches():
            with torch.autocast("cpu", torch.bfloat16):
                loss = torch.nn.functional.mse_loss(model.net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
