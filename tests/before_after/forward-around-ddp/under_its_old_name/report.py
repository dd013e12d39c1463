import torch
from torch.nn.parallel import DistributedDataParallel


def main(batches, rank):
    model = torch.nn.Linear(8, 1).to(rank)
    ddp = DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
