# fixer: unsafe
import torch
from torch.utils.data import DataLoader


def main(rank, world_size, dataset, model, optimizer, scheduler, epochs):
    sampler = torch.utils.data.distributed.DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loaders = {"train": DataLoader(dataset, batch_size=8, sampler=sampler), "val": DataLoader(dataset, batch_size=8)}
    for epoch in range(epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            for x, y in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    loss = torch.nn.functional.cross_entropy(model(x), y)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
        scheduler.step()
