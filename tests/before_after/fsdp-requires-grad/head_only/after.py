# fixer: unsafe
import torch
from torch.distributed.fsdp import FullyShardedDataParallel


def main(model):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    wrapped = FullyShardedDataParallel(model, use_orig_params=True, auto_wrap_policy=None)
    return torch.optim.AdamW(filter(lambda p: p.requires_grad, wrapped.parameters()), lr=1e-4)
