import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(8, 4)
index = torch.tensor([0, 2, 4])
with torch.autocast("cpu", torch.bfloat16):
    out = torch.zeros(8, 3)
    out[index] = model(x[index])
    loss = out.pow(2).mean()
loss.backward()
optimizer.step()
