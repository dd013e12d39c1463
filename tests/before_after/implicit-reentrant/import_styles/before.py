# fixer: unsafe
import functools
from functools import partial

import torch
import torch.utils.checkpoint
import torch.utils.checkpoint as cp
import torch.utils.checkpoint as checkpoint_module
from torch import utils
from torch.utils import checkpoint
from torch.utils.checkpoint import checkpoint as ckpt
from torch.utils.checkpoint import checkpoint_sequential as ckpt_seq

run = ckpt


def forward(block, layers, x, flag):
    x = torch.utils.checkpoint.checkpoint(block, x)
    x = cp.checkpoint(block, x)
    x = checkpoint_module.checkpoint(block, x)
    x = utils.checkpoint.checkpoint(block, x)
    x = checkpoint.checkpoint(block, x) if flag else block(x)
    x = ckpt(block, x, preserve_rng_state=False)
    x = ckpt_seq(functions=layers, segments=2, input=x)
    x = run(block, x)
    later = functools.partial(ckpt, block)
    again = partial(cp.checkpoint, block, x)
    x = ckpt(
        block,  # the heavy one
        x,
    )
    outs = [ckpt(fn, x) for fn in layers]; total = sum(outs)
    return later(x), again(), total, lambda x: ckpt(block, x)
