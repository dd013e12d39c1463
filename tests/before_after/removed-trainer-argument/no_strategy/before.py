# fixer: target=lightning==2.6.6
import pytorch_lightning as pl


def make(several):
    first = pl.Trainer(strategy=None)
    return first, pl.Trainer(strategy="ddp" if several else None)
