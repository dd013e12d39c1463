from datasets import shuffling
from torch.utils.data import DataLoader, DistributedSampler
from watching import watch


def an_unknown_shuffle(model, dataset):
    sampler = DistributedSampler(dataset, shuffle=shuffling)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        for batch in loader:
            model(batch).mean().backward()


def splat(model, dataset, **options):
    sampler = DistributedSampler(dataset, **options)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        for batch in loader:
            model(batch).mean().backward()


def given_to_another(model, dataset):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    watch(sampler)
    for epoch in range(3):
        for batch in loader:
            model(batch).mean().backward()


def until_it_is_good(model, dataset, good):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    while not good(model):
        for batch in loader:
            model(batch).mean().backward()


def without_a_name(model, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):
        for batch in loader:
            model(batch).mean().backward()


def made_anew(model, dataset):
    for epoch in range(3):
        sampler = DistributedSampler(dataset, seed=1)
        for batch in DataLoader(dataset, sampler=sampler):
            model(batch).mean().backward()


def perhaps_none(model, dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    loader = DataLoader(dataset, sampler=sampler, shuffle=sampler is None)
    for epoch in range(3):
        for batch in loader:
            model(batch).mean().backward()


def only_the_other_is_told(model, dataset):
    sampler = DistributedSampler(dataset)
    other = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        other.set_epoch(epoch)
        for batch in loader:
            model(batch).mean().backward()
        for batch in DataLoader(dataset, sampler=other):
            model(batch)


def of_each_fold(model, folds):
    for i in range(5):
        sampler = DistributedSampler(folds[i])
        loader = DataLoader(folds[i], sampler=sampler)
        for epoch in range(3):
            for batch in loader:
                model(batch).mean().backward()
