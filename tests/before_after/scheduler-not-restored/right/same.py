import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, ExponentialLR, LambdaLR, StepLR


def restored(model, batches, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 10)
    saved = torch.load(path)
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    for x in batches:
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()


class Positions:
    def told(self, model, batches, path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        saved = torch.load(path)
        optimizer.load_state_dict(saved["optimizer"])
        scheduler = CosineAnnealingLR(optimizer, 100, last_epoch=saved["epoch"])
        for x in batches:
            model(x).mean().backward()
            optimizer.step()
            scheduler.step()


def never_advanced(model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = LambdaLR(optimizer, lambda step: 0.1)
    optimizer.load_state_dict(torch.load(path))
    return optimizer, scheduler


def multiplied(model, batches, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = ExponentialLR(optimizer, 0.9)
    optimizer.load_state_dict(torch.load(path))
    for x in batches:
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()
