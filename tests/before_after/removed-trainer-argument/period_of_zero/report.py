# fixer: target=lightning==2.6.6
"""No period: older releases saved at every check, newer ones never save."""

import pytorch_lightning as pl
from pytorch_lightning.callbacks import ModelCheckpoint

trainer = pl.Trainer(accelerator="cpu", devices=1, callbacks=[ModelCheckpoint(period=0)])
