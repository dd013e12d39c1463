import torch

from objective import objective


def train(model, teacher, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        loss = objective(model, teacher, x)
        loss.backward()
        optimizer.step()
