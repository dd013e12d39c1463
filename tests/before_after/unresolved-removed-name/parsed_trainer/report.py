# fixer: upgrade=lightning@2.6.0,pytorch-lightning@2.6.0
import argparse

from omegaconf import OmegaConf
from pytorch_lightning import Trainer


def main(path, checkpoint):
    parser = argparse.ArgumentParser()
    parser.add_argument("--name")
    parser = Trainer.add_argparse_args(parser)
    options = parser.parse_args()
    if checkpoint:
        options.resume_from_checkpoint = checkpoint
    settings = OmegaConf.load(path)
    settings["accelerator"] = "ddp"
    settings["max_epochs"] = 3
    if "gpus" in settings:
        print("on", settings["gpus"], options.name)
    return Trainer.from_argparse_args(argparse.Namespace(**settings))
