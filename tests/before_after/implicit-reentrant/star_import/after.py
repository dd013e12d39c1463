# fixer: unsafe
from torch.utils.checkpoint import *


def forward(block, x):
    return checkpoint(block, x, use_reentrant=False)
