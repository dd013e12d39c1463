"""LightningCLI refuses the key; with the new name the model trains."""

import tempfile

from lightning.pytorch.cli import LightningCLI
from lightning.pytorch.demos.boring_classes import BoringDataModule, DemoModel

from codemods.verify.observe import watch

SYMPTOM = "checkpoint_callback"


def run(case):
    where = [f"--trainer.default_root_dir={tempfile.mkdtemp()}", "--trainer.logger=false"]
    arguments = [f"--config={case / 'config.yaml'}", *where, "--trainer.limit_train_batches=4"]
    cli = LightningCLI(DemoModel, BoringDataModule, args=arguments, run=False)
    with watch(cli.model) as seen:
        cli.trainer.fit(cli.model, cli.datamodule)
    return seen
