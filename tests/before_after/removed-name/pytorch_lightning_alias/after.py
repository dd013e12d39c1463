# fixer: target=lightning==2.6.6
import pytorch_lightning as pl
from pytorch_lightning import loggers


def seed(logger: pl.loggers.Logger):
    pl.seed_everything(1)
    return logger
