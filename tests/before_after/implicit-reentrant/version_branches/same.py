import inspect

import torch
from packaging import version
from torch.utils.checkpoint import checkpoint

TORCH_GE_1_11 = version.parse(torch.__version__) >= version.parse("1.11")


def run(block, x):
    if TORCH_GE_1_11:
        return checkpoint(block, x, use_reentrant=False)
    else:
        return checkpoint(block, x)


def run_or_retry(block, x):
    try:
        return checkpoint(block, x, use_reentrant=False)
    except TypeError:
        return checkpoint(block, x)


def run_by_signature(block, x):
    if "use_reentrant" not in inspect.signature(checkpoint).parameters:
        return checkpoint(block, x)
    return checkpoint(block, x, use_reentrant=False)
