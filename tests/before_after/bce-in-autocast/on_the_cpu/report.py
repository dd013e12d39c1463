"""Everything is on the CPU, where a region of CUDA casts nothing."""

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = torch.device("cpu")


def train(batches):
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = F.binary_cross_entropy(torch.sigmoid(model(x.to(DEVICE))), y.to(DEVICE))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train([(torch.randn(4, 8), torch.rand(4, 1)) for _ in range(3)])
