import torch.distributed as dist
from somewhere import *
from torch.nn.parallel import DistributedDataParallel


def shadow(model, loader, DistributedDataParallel):  # shadow: a parameter of that name
    model = DistributedDataParallel(model)
    for x in loader:
        if dist.get_rank() == 0:
            continue
        model(x).mean().backward()


def star(model, loader):
    model = DistributedDataParallel(model)
    for x in loader:
        if get_rank() == 0:  # star: nobody knows what the import brings
            continue
        model(x).mean().backward()


def splat(model, loader, *args):
    model = DistributedDataParallel(model)
    for x in loader:
        if dist.get_world_size(*args) == 0:  # splat: not the rank
            continue
        model(x).mean().backward()


def keyword(model, loader, rank=0, **options):
    model = DistributedDataParallel(model, **options)
    for x in loader:
        if rank == 0:  # keyword: it may be anything
            continue
        model(x).mean().backward()


def its_own_name(model, loader, local_rank):
    model = DistributedDataParallel(model)
    for x in loader:
        if local_rank == 0:
            continue
        model(x).mean().backward()
