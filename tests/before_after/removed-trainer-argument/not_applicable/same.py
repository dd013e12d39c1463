# fixer: target=lightning==2.6.6
import pytorch_lightning
from pytorch_lightning import Trainer as Lightning
from somewhere import *
from transformers import Trainer as Other


class Trainer:  # shadow: a class of the project of that name
    def __init__(self, gpus, checkpoint_callback):
        self.gpus = gpus


def make(options, **kwargs):
    own = Trainer(gpus=1, checkpoint_callback=False)
    brought = FancyTrainer(checkpoint_callback=False)  # star: nobody knows what the import brings
    spread = Lightning(**options)  # splat: what the dictionary holds cannot be seen
    hidden = Lightning(**kwargs)  # keyword: the same
    another = Other(checkpoint_callback=False)
    if pytorch_lightning.__version__ < "2":
        return Lightning(checkpoint_callback=False)
    return own, brought, spread, hidden, another
