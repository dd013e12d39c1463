# fixer: target=torch==2.13.0
import torch
from somewhere import *
from torch.optim.lr_scheduler import StepLR as Steps


class StepLR:  # shadow: a class of the project of that name
    def __init__(self, optimizer, verbose=False):
        self.verbose = verbose


class Talking(Steps):
    def __init__(self, *args, verbose=False, **kwargs):
        super().__init__(*args, **kwargs)


def make(optimizer, options, *more, **kwargs):
    own = StepLR(optimizer, verbose=True), Talking(optimizer, 10, verbose=True)
    brought = CosineLRScheduler(optimizer, verbose=True)  # star: nobody knows what the import brings
    spread = Steps(optimizer, *more)  # splat: what it holds cannot be seen
    hidden = Steps(optimizer, **options), Steps(optimizer, **kwargs)  # keyword: the same
    if torch.__version__ < "2.7":
        return Steps(optimizer, 10, verbose=True)
    return own, brought, spread, hidden
