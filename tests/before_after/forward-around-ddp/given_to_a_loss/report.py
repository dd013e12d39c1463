import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Diffusion:
    def loss(self, net, x):
        return (net(x) - x).pow(2).mean()


def loss_of(net, x):
    return (net(x) - x).pow(2).mean()


def train(batches):
    model = DDP(torch.nn.Linear(4, 4))
    net = model.module
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        loss_of(net, x).backward()
        optimizer.step()


def train_with_an_object(batches):
    model = DDP(torch.nn.Linear(4, 4))
    diffusion = Diffusion()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        diffusion.loss(model.module, x).backward()
        optimizer.step()


def penalized(batches):
    model = DDP(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        (model(x).pow(2).mean() + loss_of(model.module, x)).backward()
        optimizer.step()
