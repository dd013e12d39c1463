import torch
import torch.nn.functional as F
from stream import Stream
from torch import nn

ACCUMULATE = 4


def train(data):
    loader = Stream(data, size=ACCUMULATE)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=len(loader) // ACCUMULATE)
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
    return optimizer.param_groups[0]["lr"]


if __name__ == "__main__":
    print(train((torch.randn(64, 8), torch.randn(64, 1))))
