import lightning
import pytorch_lightning as pl

fabric = lightning.Fabric(precision="16-mixed")
trainer = pl.Trainer(accelerator="gpu", devices=1, precision=16)
