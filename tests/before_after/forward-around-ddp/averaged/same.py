import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)


def train(model, batches):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model.module.predict(x), y).backward()
        average(model.module)
        optimizer.step()
