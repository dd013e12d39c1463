import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def is_main():
    return dist.get_rank() == 0


def early(model, loader, optimizer, epochs, stopped):
    model = DDP(model)
    for epoch in range(epochs):
        for x, y in loader:
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if is_main():
            if stopped(epoch):
                break


def skipped(model, data, optimizer):
    rank = int(os.environ["RANK"])
    model = DDP(model)
    criterion = torch.nn.MSELoss()
    loader = DataLoader(data, sampler=DistributedSampler(data))
    for number, (x, y) in enumerate(loader):
        if number == 10 and not rank:
            continue
        loss = criterion(model(x.cuda()), y)
        if torch.isnan(loss).any() or torch.isinf(loss):
            optimizer.zero_grad()
            continue
        loss.backward()
        optimizer.step()


def work(rank, model, loader):
    model = DDP(model)
    for x in loader:
        model(x).mean().backward()
        if rank == 0:
            break


def main(model, loader):
    mp.spawn(work, args=(model, loader), nprocs=2)
