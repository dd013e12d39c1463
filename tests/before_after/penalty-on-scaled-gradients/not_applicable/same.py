import torch
from somewhere import *
from torch.amp import GradScaler


def shadow(net, loader, torch):
    scaler = GradScaler("cuda")
    for x in loader:  # shadow: another torch
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        scaler.scale(loss + found[0].norm()).backward()


def star(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        penalty = penalty_of(found)  # star: nobody knows what the import brings
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()


def splat(net, loader, *args, **options):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(*args, create_graph=True)  # splat: it may be unscaled
        other = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), **options)  # keyword: hidden
        scaler.scale(loss + found[0].norm() + other[0].norm()).backward()
        scaler.step(optimizer)
        scaler.update()


def off(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), GradScaler("cuda", enabled=False)
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        scaler.scale(loss + found[0].norm()).backward()
        scaler.step(optimizer)
        scaler.update()


class Kept:
    def __init__(self, net):
        self.net, self.optimizer = net, torch.optim.SGD(net.parameters(), 0.01)
        self.scaler = GradScaler("cuda")

    def step(self, x):
        loss = self.net(x).mean()
        self.found = torch.autograd.grad(self.scaler.scale(loss), list(self.net.parameters()), create_graph=True)
        parts = []
        for each in self.found:
            parts.append(each.norm())
        self.scaler.scale(loss + sum(parts)).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
