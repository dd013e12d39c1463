import lightning
import transformers
from accelerate import Accelerator
from lightning.fabric import Fabric
from somewhere import *
from torch.utils.data import DataLoader, DistributedSampler


def shadow(model, dataset, epochs, DistributedSampler):  # shadow: a parameter of that name
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()


def star(model, dataset, epochs):
    loader = DataLoader(dataset, sampler=ElasticSampler(dataset))  # star: nobody knows what the import brings
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()


def splat(model, dataset, epochs, *args):
    loader = DataLoader(dataset, 4, *args)  # splat: nobody knows whether a sampler is among them
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()


def keyword(model, dataset, epochs, **options):
    loader = DataLoader(dataset, **options)  # keyword: the same
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()


def accelerate(model, dataset, epochs):
    accelerator = Accelerator()
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    model, loader = accelerator.prepare(model, loader)  # sets the epoch itself
    for _ in range(epochs):
        for batch in loader:
            accelerator.backward(model(batch).mean())


def fabric(model, dataset, epochs):
    fabric = Fabric()
    loader = fabric.setup_dataloaders(DataLoader(dataset, sampler=DistributedSampler(dataset)))  # the same
    for _ in range(epochs):
        for batch in loader:
            fabric.backward(model(batch).mean())


def the_trainer_of_lightning(module, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    lightning.Trainer(max_epochs=3).fit(module, loader)


def the_trainer_of_transformers(model, dataset):
    for _ in range(3):
        transformers.Trainer(model, train_dataset=dataset).train()


class Reshuffled(DistributedSampler):
    def __iter__(self):
        self.set_epoch(self.epoch + 1)
        return super().__iter__()


def a_sampler_of_ones_own(model, dataset, epochs):
    loader = DataLoader(dataset, sampler=Reshuffled(dataset))
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()


def not_shown_to_be_the_loader(model, dataset, loader, epochs):
    other = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for _ in range(epochs):
        for batch in loader:
            model(batch).mean().backward()
    return other


class Training:
    def __init__(self, dataset):
        self.accelerator = Accelerator()
        self.loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
        self.loader = self.accelerator.prepare(self.loader)

    def fit(self, model):
        for _ in range(3):
            for batch in self.loader:
                self.accelerator.backward(model(batch).mean())
