import torch
import torch.nn.functional as F
from model import build
from torch import nn


def batches(n=6):
    torch.manual_seed(0)
    return [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(n)]


def main():
    model: nn.Module = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for epoch in range(3):
        for x, y in batches():
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, F.mse_loss(model(x), y).item())


if __name__ == "__main__":
    main()
