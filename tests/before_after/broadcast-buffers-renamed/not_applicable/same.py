# fixer: target=torch==2.13.0
from somewhere import *
from torch.nn.parallel import DistributedDataParallel as Torch


class DistributedDataParallel:  # shadow: a class of the project of that name
    def __init__(self, model, broadcast_buffers=True):
        self.model = model


def wrap(model, options, **kwargs):
    own = DistributedDataParallel(model, broadcast_buffers=False)
    brought = FancyParallel(model, broadcast_buffers=False)  # star: nobody knows what the import brings
    spread = Torch(model, **options)  # splat: what the dictionary holds cannot be seen
    hidden = Torch(model, **kwargs)  # keyword: the same
    return own, brought, spread, hidden
