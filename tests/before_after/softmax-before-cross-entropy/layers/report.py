import torch
from torch import nn

net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 10), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()


def step(optimizer, x, y):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
