import torch
import torch.nn.functional as F
from limits import bound
from torch import nn


def batches(n=6):
    torch.manual_seed(0)
    return [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(n)]


def main():
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch.nn.utils.clip_grad_norm_(model.parameters(), bound("norm"), error_if_nonfinite=True)


if __name__ == "__main__":
    main()
