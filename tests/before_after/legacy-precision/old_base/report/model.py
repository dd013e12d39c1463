from pytorch_lightning.callbacks.base import Callback


class Mine(Callback):
    pass
