import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def agree(flag):
    dist.broadcast(flag, src=0)
    return flag.item()


def main(model, loader, optimizer, stopped):
    model = DDP(model)
    while True:
        for x in loader:
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
        stop = agree(torch.tensor(stopped()))
        if dist.get_rank() == 0 and stop:
            break
        if stop:
            break
