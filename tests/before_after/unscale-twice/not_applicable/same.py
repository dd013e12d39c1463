import torch
from somewhere import *
from torch.amp import GradScaler


def shadow(net, loader, unscale_):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:  # shadow: functions of that name are no methods of a scaler
        scaler.scale(net(x).mean()).backward()
        unscale_(optimizer)
        unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def star(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), DynamicScaler()
    for x in loader:  # star: nobody knows what the class of an import does
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def splat(net, loader, *args, **kwargs):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(*args)  # splat: which optimizer it is cannot be told
        scaler.unscale_(**kwargs)  # keyword: the same
        scaler.step(optimizer)
        scaler.update()


def off(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda", enabled=False)
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def guarded(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        try:
            scaler.unscale_(optimizer)
        except RuntimeError:
            pass
        scaler.step(optimizer)
        scaler.update()


def guarded_in_each_batch(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for i, x in enumerate(loader):
        scaler.scale(net(x).mean()).backward()
        try:
            scaler.unscale_(optimizer)
        except RuntimeError:
            continue
        if i % 2:
            scaler.step(optimizer)
            scaler.update()


def by_hand(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        scaler._per_optimizer_states.clear()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def handed_on(net, loader, hook):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        hook(scaler)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def bound_anew(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        scaler.unscale_(optimizer)
        scaler = GradScaler("cuda")
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def taken(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    forget = scaler.update
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        forget()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        forget()


def under_two_gates(net, loader, accumulate, is_last):
    """The gates are written in two ways, and are one."""
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), GradScaler("cuda")
    for i, x in enumerate(loader):
        scaler.scale(net(x).mean()).backward()
        if (i + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
        if i % accumulate == accumulate - 1:
            scaler.step(optimizer)
            scaler.update()


def listed(nets, loader):
    optimizers, scaler = [torch.optim.SGD(net.parameters(), 0.1) for net in nets], GradScaler("cuda")
    for x in loader:
        scaler.scale(sum(net(x).mean() for net in nets)).backward()
        [scaler.unscale_(each) for each in optimizers[:1]]
        [scaler.unscale_(each) for each in optimizers[1:]]
        [scaler.step(each) for each in optimizers]
        scaler.update()


class Loop:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), 0.1)
        self.scaler = GradScaler("cuda")

    def finish(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()


class OfItsBase(Loop):
    def train(self, loader):
        for x in loader:
            self.scaler.scale(self.net(x).mean()).backward()
            self.scaler.unscale_(self.optimizer)
            super().finish()
