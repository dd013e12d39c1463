import pytorch_lightning as pl


def fit(module, loader):
    pl.Trainer(precision="bf16-mixed", max_epochs=2).fit(module, loader)
