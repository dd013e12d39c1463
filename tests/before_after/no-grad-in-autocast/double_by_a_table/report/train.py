import torch
import torch.nn.functional as F
from torch import nn
from zoo import build


def batches(n=6):
    torch.manual_seed(0)
    return [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(n)]


def main():
    model: nn.Module = build(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (x, y) in enumerate(batches()):
        x, y = x.double(), y.double()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(x)
            loss = F.mse_loss(model(x + 0.1), target + y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
