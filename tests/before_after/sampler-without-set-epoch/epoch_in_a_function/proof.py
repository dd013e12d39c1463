"""The epoch is a function of its own. Three epochs of the first of two processes: the losses are those of the order that each epoch should have."""

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"
EPOCHS = 3


def parts():
    settle()
    dataset = TensorDataset(*batches(steps=1, size=16)[0])
    model = torch.nn.Linear(8, 1)
    return model, dataset, torch.optim.SGD(model.parameters(), lr=0.1)


def run(case):
    model, dataset, optimizer = parts()
    with watch(model) as seen:
        seen.losses = case.train(model, dataset, optimizer, EPOCHS, 2, 0)
    return seen


def reference(case):
    """A sampler for each epoch that was told of it when it was made."""
    model, dataset, optimizer = parts()
    losses = []
    with watch(model) as seen:
        for epoch in range(EPOCHS):
            sampler = DistributedSampler(dataset, 2, 0, seed=epoch)
            for x, y in DataLoader(dataset, batch_size=4, sampler=sampler):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        seen.losses = losses
    return seen
