import torch
import torch.nn.functional as F
from bases import Net
from torch import nn


def batches(n=6):
    torch.manual_seed(0)
    return [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(n)]


def main():
    model = Net()
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.05)
    for step, (x, y) in enumerate(batches()):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()


if __name__ == "__main__":
    main()
