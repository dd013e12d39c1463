from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


def train(model, batches, accumulate=4, lr=0.1):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    step = 0
    losses = []
    for x, y in batches:
        with nullcontext() if (step + 1) % accumulate == 0 else model.no_sync():
            loss = F.mse_loss(model(x), y) / accumulate
            loss.backward()
        step += 1
        if step % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(torch.nn.Linear(8, 1), [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(8)])
    dist.destroy_process_group()
