# fixer: unsafe
from torch.utils.checkpoint import *


def forward(block, x):
    return checkpoint(lambda: block(x), use_reentrant=True)
