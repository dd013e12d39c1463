import functools

from torch.utils.checkpoint import checkpoint

lean = functools.partial(checkpoint, preserve_rng_state=False)


def forward(block, x):
    return lean(block, x, use_reentrant=False)
