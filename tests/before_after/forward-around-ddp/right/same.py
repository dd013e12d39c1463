import torch
from torch.nn import DataParallel
from torch.nn.parallel import DistributedDataParallel


def both(model, batches):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        features = model(x)
        loss = model.module.loss(features, y) + model.module.penalty()
        loss.backward()
        optimizer.step()


def evaluation(model, batches):
    model = DistributedDataParallel(model)
    for x, y in batches:
        with torch.no_grad():
            teacher = model.module(x)
        model(x).sub(teacher).square().mean().backward()


def decay(model, batches):
    model = DistributedDataParallel(model)
    for x, y in batches:
        loss = sum(p.square().sum() for p in model.module.parameters())
        loss.backward()


def threads(model, batches):
    model = DataParallel(model)
    for x, y in batches:
        model.module(x).mean().backward()



def moved(config, rank, batches):
    generator = torch.nn.Linear(8, 8).to(rank)
    critic = torch.nn.Linear(8, 1).to(rank)
    if config.processes > 1:
        generator = DistributedDataParallel(generator, device_ids=[rank]).to(rank)
        critic = DistributedDataParallel(critic, device_ids=[rank]).to(rank)
    optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
    for x, _ in batches:
        optimizer.zero_grad()
        critic(generator(x)).mean().backward()
        optimizer.step()
