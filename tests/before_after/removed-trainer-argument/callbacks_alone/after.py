# fixer: target=lightning==2.6
from lightning.pytorch.callbacks import ModelCheckpoint


def callbacks(folder):
    return [ModelCheckpoint(dirpath=folder, every_n_epochs=1)]
