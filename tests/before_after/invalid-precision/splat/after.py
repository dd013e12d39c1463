# fixer: target=lightning==2.6.6
from pytorch_lightning import Trainer


def build(*args, **kwargs):
    return Trainer(*args, precision="16-mixed", **kwargs)
