import torch
from torch.optim.lr_scheduler import LambdaLR


def warmed_up(optimizer, steps):
    return LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / steps), -1)


def main(batches, path, resume):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = warmed_up(optimizer, 100)
    if resume:
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
    for x in batches:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()
