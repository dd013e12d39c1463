# fixer: target=lightning==2.6.6
from lightning import Trainer


def build(**kwargs):
    return Trainer(precision=16, gpus=1, **kwargs)
