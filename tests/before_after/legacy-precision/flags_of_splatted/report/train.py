import pytorch_lightning as pl

from project import config

trainer = pl.Trainer(**config.train.trainer)
