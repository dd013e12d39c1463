import torch
from torch import nn
import torch.nn.functional as F


model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(8, 4)
y = torch.Tensor([0, 1, 2, 0, 1, 2, 0, 1])
with torch.autocast("cpu", torch.bfloat16):
    loss = F.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
