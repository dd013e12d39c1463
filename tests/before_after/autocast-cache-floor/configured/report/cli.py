from lightning.pytorch.cli import LightningCLI

LightningCLI()
