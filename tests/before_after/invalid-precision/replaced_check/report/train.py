import lightning.pytorch as pl
import names  # noqa: F401

trainer = pl.Trainer(precision="bf16_mixed")
