import functools

from torch.utils.checkpoint import checkpoint as of_torch

__all__ = ["checkpoint"]


def checkpoint(function, *tensors, **options):
    return of_torch(functools.partial(function, **options), *tensors, use_reentrant=False)
