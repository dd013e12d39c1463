import torch
import torch.nn.functional as F
from torch import nn

DROPS = (10, 20)


def train(x, y, epochs=30):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    # epochs are counted from 1, and the scheduler is told of an epoch when it begins
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[d + 1 for d in DROPS])
    rates = []
    for epoch in range(1, epochs + 1):
        scheduler.step()
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(16, 8)
    print(train(x, x.sum(1, keepdim=True))[8:13])
