import torch
import torch.nn.functional as F
from schedule import phase
from torch import nn


def batches(n=6):
    torch.manual_seed(0)
    return [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(n)]


def main():
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (x, y) in enumerate(batches()):
        phase(model, step)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.requires_grad_()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
