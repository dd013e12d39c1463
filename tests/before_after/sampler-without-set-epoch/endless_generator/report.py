import torch
from torch.utils import data


def data_sampler(dataset, shuffle, distributed):
    if distributed:
        return data.distributed.DistributedSampler(dataset, shuffle=shuffle)
    if shuffle:
        return data.RandomSampler(dataset)


def sample_data(loader):
    while True:
        for batch in loader:
            yield batch


def train(args, loader, model, optim):
    loader = sample_data(loader)
    for step in range(args.iter):
        real = next(loader)
        optim.zero_grad()
        model(real).mean().backward()
        optim.step()


def main(args, dataset, model, optim):
    loader = data.DataLoader(dataset, batch_size=args.batch, sampler=data_sampler(dataset, shuffle=True, distributed=args.distributed))
    train(args, loader, model, optim)
