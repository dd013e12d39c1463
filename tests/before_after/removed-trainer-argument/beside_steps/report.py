# fixer: target=lightning==2.6
from lightning.pytorch.callbacks import ModelCheckpoint


def callbacks(folder, every):
    return [ModelCheckpoint(dirpath=folder, save_top_k=-1, period=1, every_n_train_steps=every)]
