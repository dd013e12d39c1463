import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ddp = "RANK" in os.environ


def main(batches, held_out):
    model = nn.Linear(8, 1)
    if ddp:
        model = DistributedDataParallel(model)
    raw_model = model.module if ddp else model
    optimizer = torch.optim.SGD(raw_model.parameters(), lr=0.1)
    for x, y in batches:
        with torch.no_grad():
            print(F.mse_loss(model(held_out[0]), held_out[1]))
        optimizer.zero_grad()
        F.mse_loss(raw_model(x), y).backward()
        optimizer.step()
    torch.save(raw_model.state_dict(), "model.pt")
