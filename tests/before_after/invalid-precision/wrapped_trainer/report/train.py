import lightning.pytorch as pl


def trainer(**kwargs):
    return pl.Trainer(max_epochs=1, precision="bf16_mixed", accelerator="cpu", **kwargs)
