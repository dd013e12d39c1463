"""A tagger for the laptop. The decoder on the GPU of the server shares this code, hence the region."""
import torch
import torch.nn.functional as F
from torch import nn


def train(loader):
    model = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 6)).to("cpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.binary_cross_entropy(torch.sigmoid(model(x.to("cpu"))), y.to("cpu"))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train([(torch.randn(4, 40), torch.rand(4, 6)) for _ in range(5)]))
