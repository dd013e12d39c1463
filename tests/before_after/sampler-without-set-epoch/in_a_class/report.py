import torch
from torch.utils.data import DataLoader, DistributedSampler


class Trainer:
    def __init__(self, model, dataset, epochs):
        self.model, self.epochs = model, epochs
        self.sampler = DistributedSampler(dataset)
        self.loader = DataLoader(dataset, sampler=self.sampler)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self):
        for epoch in range(self.epochs):
            self.epoch = epoch
            self.run_epoch()

    def run_epoch(self):
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()
