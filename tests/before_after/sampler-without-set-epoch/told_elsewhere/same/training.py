from telling import tell
from torch.utils.data import DataLoader, DistributedSampler


def train(model, dataset):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        tell(loader, epoch)
        for batch in loader:
            model(batch).mean().backward()
