# fixer: target=torch==2.13.0
from torch.optim.lr_scheduler import StepLR


def make(optimizer):
    return StepLR(optimizer, 10, 0.1, -1)
