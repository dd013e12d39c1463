import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import wrap


def shard(layer):
    return FSDP(layer.module)


def main(model, freeze):
    if freeze:
        model.body.requires_grad_(False)
    for p in model.parameters():
        p.requires_grad = True
    model.body = FSDP(model.body)
    model.head = wrap(model.head)
    model = FSDP(model)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
