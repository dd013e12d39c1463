import lightning.pytorch as pl

trainer = pl.Trainer(accelerator="cpu", precision="bf16-mixed")
