import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Autoencoder


def mean(value):
    dist.all_reduce(value)
    return value / dist.get_world_size()


def main(batches, rank):
    model = DDP(Autoencoder().to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x in batches:
        code = model.module.encode(x)
        loss = (model.module.decode(code) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(mean(loss.detach()))


def inner(batches, rank):
    model = DDP(Autoencoder().to(rank), device_ids=[rank])
    net = model.module
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for x in batches:
        loss = (net(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.module.state_dict(), "model.pt")
