import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def train(model, loader, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for epoch in range(epochs):
        sums, rows = [], 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            value = loss.cpu().numpy()
            value *= len(x)
            sums.append(value)
            rows += len(x)
            best = min(best, loss.item())
        print(f"epoch {epoch}: mean {np.sum(sums) / rows:.4f}, best batch {best:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(nn.Linear(4, 1), [(x, x.sum(1, keepdim=True)) for x in torch.randn(10, 16, 4)])
