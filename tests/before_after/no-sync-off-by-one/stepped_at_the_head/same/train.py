"""torchrun --nproc_per_node=2 train.py"""
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(batches, n=4, lr=0.05):
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for i, (x, y) in enumerate(batches):
        if i % n == 0:  # the window before is complete: step while this batch comes
            optimizer.step()
            optimizer.zero_grad()
        with nullcontext() if (i + 1) % n == 0 else model.no_sync():
            loss = F.mse_loss(model(x), y) / n
            loss.backward()
    optimizer.step()
    return model.module.weight.detach()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    x = torch.randn(16, 16, 8)
    weight = train([(b, b.sum(1, keepdim=True)) for b in x])
    both = [torch.empty_like(weight) for _ in range(2)]
    dist.all_gather(both, weight)
    print(torch.equal(*both))
    dist.destroy_process_group()
