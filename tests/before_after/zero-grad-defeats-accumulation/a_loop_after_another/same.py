"""The second loop begins anew, whatever the first one left."""

import torch
from torch import nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
optimizer.zero_grad()
for i in range(10):
    model(torch.ones(1, 8)).mean().backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
for _ in range(10):
    optimizer.zero_grad()
    model(torch.ones(1, 8)).mean().backward()
    optimizer.step()
