import torch
from torch.amp import GradScaler


def made_elsewhere(net, loader, optimizer, scaler):
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def by_a_setting(net, loader, options):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = GradScaler("cuda", enabled=options.amp)
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def by_a_count(net, loader, accumulate=1):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for i, x in enumerate(loader):
        scaler.scale(net(x).mean() / accumulate).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if (i + 1) % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
