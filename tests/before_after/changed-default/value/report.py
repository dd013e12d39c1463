# fixer: upgrade=lightning@2.6.6,trl@1.16.0
import lightning.pytorch as pl
from trl import DPOConfig

trainer = pl.Trainer(accelerator="gpu", devices=2, strategy="ddp")
other = pl.Trainer(accelerator="gpu", devices=2, strategy="ddp_find_unused_parameters_false")
half = DPOConfig("out", fp16=True, gradient_checkpointing=False, learning_rate=1e-5)
