from somewhere import *
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.optim import AdamW


def shadow(model, FullyShardedDataParallel):  # shadow: a parameter of that name
    model.body.requires_grad_(False)
    model = FullyShardedDataParallel(model)
    return AdamW(model.parameters())


def star(model):
    model.body.requires_grad_(False)
    model = FSDP(model)  # star: nobody knows what the import brings
    return AdamW(model.parameters())


def splat(model, *args):
    model.body.requires_grad_(False)
    model = FullyShardedDataParallel(model, *args)  # splat: a policy may be among them
    return AdamW(model.parameters())


def keyword(model, **options):
    model.body.requires_grad_(False)
    model = FullyShardedDataParallel(model, **options)  # keyword: the same
    return AdamW(model.parameters())


def by_a_flag(model, apart, policy):
    model.body.requires_grad_(False)
    model = FullyShardedDataParallel(model, use_orig_params=apart, auto_wrap_policy=policy)
    return AdamW(model.parameters())
