import pytorch_lightning as pl

trainer = pl.Trainer(accelerator="gpu", devices=1, precision=16)
