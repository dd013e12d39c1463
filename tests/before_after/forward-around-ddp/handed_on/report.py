import torch
from torch.nn.parallel import DistributedDataParallel

from elsewhere import warm_up


def evaluate(model, batches):
    with torch.no_grad():
        return [model(x) for x, y in batches]


def train(model, batches):
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warm_up(model)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model.module.predict(x), y)
        loss.backward()
        optimizer.step()
    return evaluate(model, batches)
