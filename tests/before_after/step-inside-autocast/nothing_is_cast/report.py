import torch
from torch import nn


class Factors(nn.Module):
    def __init__(self, users, items, rank):
        super().__init__()
        self.users, self.items = nn.Embedding(users, rank), nn.Embedding(items, rank)

    def forward(self, u, i):
        return (self.users(u) * self.items(i)).sum(-1)


def train(ratings):
    model = Factors(100, 50, 16)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        for u, i, r in ratings:
            loss = (model(u, i) - r).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
