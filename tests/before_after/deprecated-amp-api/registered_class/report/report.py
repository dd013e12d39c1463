from functools import singledispatch

from torch import nn
from torch.cuda import amp


@singledispatch
def describe(thing):
    raise TypeError(f"cannot describe {type(thing).__name__}")


@describe.register(nn.Module)
def _(thing):
    return {"parameters": sum(p.numel() for p in thing.parameters())}


@describe.register(amp.GradScaler)
def _(thing):
    return {"scaling": thing.is_enabled()}
