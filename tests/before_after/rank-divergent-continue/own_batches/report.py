import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, loader, optimizer):
    model = DDP(model)
    for x in loader:
        loss = model(x).mean()
        if not loss.isfinite():
            continue
        loss.backward()
        optimizer.step()


def made_by_something(model, loader, optimizer, together):
    model = DDP(model)
    for x in loader:
        loss = together(model(x).mean())
        if not loss.isfinite():
            continue
        loss.backward()
        optimizer.step()
