from torch.utils.data import DataLoader, DistributedSampler


def loader_of(dataset):
    return DataLoader(dataset, sampler=DistributedSampler(dataset))
