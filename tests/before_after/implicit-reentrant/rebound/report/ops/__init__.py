from functools import partial

from torch.nn.functional import gelu
from torch.utils.checkpoint import checkpoint

CALLS = {}
TABLE = {"gelu": gelu, "checkpoint": partial(checkpoint, use_reentrant=False)}


def traced(name, fn):
    def call(*args):
        CALLS[name] = CALLS.get(name, 0) + 1
        return fn(*args)

    return call


for name in TABLE:
    globals()[name] = traced(name, TABLE[name])
