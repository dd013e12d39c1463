import lightning.pytorch as pl

from fallback import first_of


def build():
    return first_of(lambda: pl.Trainer(precision="bf16_mixed"), lambda: pl.Trainer(precision="32-true"))
