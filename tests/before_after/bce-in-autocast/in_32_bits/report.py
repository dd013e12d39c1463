import torch
import torch.nn.functional as F
from torch import nn


class ClickModel(nn.Module):
    def __init__(self, items, width=16):
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.tower = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, item):
        return self.tower(self.items(item)).squeeze(-1)


def step(model, optimizer, item, clicked):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(item).float()
        loss = F.binary_cross_entropy(torch.sigmoid(logits), clicked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(items=50, steps=40):
    torch.manual_seed(0)
    model = ClickModel(items)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for number in range(steps):
        item = torch.randint(0, items, (64,))
        value = step(model, optimizer, item, (item % 3 == 0).float())
    print(value)


if __name__ == "__main__":
    main()
