# fixer: unsafe
import torch
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def train_one_epoch(model, loader, optimizer):
    losses = []
    for _, (x, y) in enumerate(tqdm(loader)):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def validate(model, loader):
    with torch.no_grad():
        return [model(x).mean().item() for x, _ in loader]


def train(model, dataset, optimizer, epochs, world_size, rank):
    sampler = DistributedSampler(dataset, world_size, rank)
    held_out = DistributedSampler(dataset, world_size, rank, shuffle=False)
    loader = DataLoader(dataset, 4, sampler=sampler)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        losses += train_one_epoch(model, loader, optimizer)
        validate(model, DataLoader(dataset, sampler=held_out))
    return losses
