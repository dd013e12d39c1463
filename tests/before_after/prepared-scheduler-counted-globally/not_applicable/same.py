import torch
from accelerate import Accelerator as Preparing
from somewhere import *


def shadow(model, optimizer, loader, Accelerator):  # shadow: a parameter of that name
    accelerator = Accelerator()
    loader = accelerator.prepare(loader)
    return accelerator.prepare(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader)))


def star(model, optimizer, loader):
    accelerator = Preparing()
    loader = accelerator.prepare(loader)
    return accelerator.prepare(make_schedule(optimizer, len(loader)))  # star: nobody knows what the import brings


def splat(optimizer, *loaders):
    accelerator = Preparing()
    return accelerator.prepare(*loaders)  # splat: nobody knows what is prepared


def keyword(optimizer, **options):
    accelerator = Preparing()
    return accelerator.prepare(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, **options))  # keyword: how long
