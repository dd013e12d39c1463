from pytorch_lightning import Trainer


def build(**kwargs):
    return Trainer(precision=16, **kwargs)
