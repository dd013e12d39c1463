import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CyclicLR


def train(batches, epochs=12):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = CyclicLR(optimizer, base_lr=0.0, max_lr=0.05, step_size_up=4, cycle_momentum=False)
    rates = []
    for epoch in range(epochs):
        scheduler.step()  # the cycle begins with a rate of zero: an epoch with it would be for nothing
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


if __name__ == "__main__":
    print(train([(torch.randn(8, 8), torch.randn(8, 1)) for _ in range(4)]))
