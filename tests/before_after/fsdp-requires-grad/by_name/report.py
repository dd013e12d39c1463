import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(model):
    for name, p in model.named_parameters():
        if "head" not in name:
            p.requires_grad = False
    model = FSDP(model)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
