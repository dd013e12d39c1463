import math
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler


def logs_at_the_end(model, loader, optimizer, log):
    model = DistributedDataParallel(model)
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        if dist.get_rank() != 0:
            continue
        log(loss.item())


def evaluates(model, loader, log):
    model = DistributedDataParallel(model)
    for x, y in loader:
        if dist.get_rank() != 0:
            break
        log((model(x) - y).pow(2).mean())


def all_together(model, loader, optimizer, most):
    model = DistributedDataParallel(model)
    for number, (x, y) in enumerate(loader):
        if number == most:
            break
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()


def stops_the_program(model, loader, optimizer):
    model = DistributedDataParallel(model)
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        if not math.isfinite(loss.item()):
            sys.exit(1)
        loss.backward()
        optimizer.step()


def waits(model, loader, optimizer):
    model = DistributedDataParallel(model)
    with model.join():
        for x, y in loader:
            if dist.get_rank() == 0:
                continue
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            optimizer.step()


def one_process(model, loader, optimizer):
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        if torch.isnan(loss):
            continue
        loss.backward()
        optimizer.step()


def not_averaged(model, loader, optimizer):
    wrapped = DistributedDataParallel(model)
    probe = torch.nn.Linear(4, 1)
    for x, y in loader:
        loss = (probe(x) - y).pow(2).mean()
        if torch.isnan(loss):
            continue
        loss.backward()
    return wrapped


def either_way(model, loader, optimizer, log):
    model = DistributedDataParallel(model)
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            log(loss)
            break
        else:
            break


def in_a_loop_of_its_own(model, loader, optimizer, names):
    model = DistributedDataParallel(model)
    for x, y in loader:
        for name in names:
            if dist.get_rank() == 0:
                continue
            print(name)
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()


def without_averaging(model, loader, optimizer):
    model = DistributedDataParallel(model)
    rank = dist.get_rank()
    for x, y in loader:
        weight = 0.0 if rank == 0 else 1.0
        loss = (model(x) - y).pow(2).mean() * weight
        if rank == 0:
            print(loss)
        loss.backward()
        optimizer.step()
