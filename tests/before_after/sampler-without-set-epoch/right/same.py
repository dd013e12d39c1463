import torch
from torch.utils.data import DataLoader, DistributedSampler
from torch.utils.data.distributed import DistributedSampler as Sharded


def step(model, batch, optimizer):
    optimizer.zero_grad()
    model(batch).mean().backward()
    optimizer.step()


def told(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            step(model, batch, optimizer)


def told_through_the_loader(model, dataset, optimizer):
    loader = DataLoader(dataset, sampler=Sharded(dataset))
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            step(model, batch, optimizer)


def advance(sampler, epoch):
    sampler.set_epoch(epoch)


def told_by_a_helper(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        advance(sampler, epoch)
        for batch in loader:
            step(model, batch, optimizer)


def told_by_its_attribute(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        sampler.epoch = epoch
        for batch in loader:
            step(model, batch, optimizer)


def without_shuffling(model, dataset, optimizer):
    sampler = DistributedSampler(dataset, shuffle=False)
    loader = DataLoader(dataset, sampler=sampler)
    for _ in range(3):
        for batch in loader:
            step(model, batch, optimizer)


def only_evaluated(model, dataset):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    scores = []
    for _ in range(3):
        with torch.no_grad():
            for batch in loader:
                scores.append(model(batch).mean().item())
    return scores


def a_single_pass(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for batch in loader:
        step(model, batch, optimizer)
    for _ in range(1):
        for batch in loader:
            step(model, batch, optimizer)


def one_pass_for_each_dataset(model, datasets, optimizer):
    for i in range(len(datasets)):
        loader = DataLoader(datasets[i], sampler=DistributedSampler(datasets[i]))
        for batch in loader:
            step(model, batch, optimizer)


def another_seed_in_each_epoch(model, dataset, optimizer):
    for epoch in range(3):
        sampler = DistributedSampler(dataset, seed=epoch)
        loader = DataLoader(dataset, sampler=sampler)
        for batch in loader:
            step(model, batch, optimizer)


def a_new_model_in_each_round(dataset):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for _ in range(3):  # runs, not epochs
        model = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for batch in loader:
            model(batch).mean().backward()
            optimizer.step()


def told_through_the_batch_sampler(model, dataset, optimizer, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        if hasattr(loader.sampler, "set_epoch"):
            loader.batch_sampler.sampler.set_epoch(epoch)
        for batch in loader:
            step(model, batch, optimizer)


def told_among_others(model, dataset, optimizer):
    samplers = {"train": DistributedSampler(dataset)}
    loaders = {"train": DataLoader(dataset, sampler=samplers["train"])}
    for epoch in range(3):
        for sampler in samplers.values():
            sampler.set_epoch(epoch)
        for batch in loaders["train"]:
            step(model, batch, optimizer)


def left_after_one_pass(model, dataset, optimizer):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for _ in range(3):
        for batch in loader:
            step(model, batch, optimizer)
        break
