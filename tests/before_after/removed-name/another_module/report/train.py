import moved  # noqa: F401
from pytorch_lightning.callbacks.base import Callback


class Snapshots(Callback):
    every = 5
