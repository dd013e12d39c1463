import torch
import torch.nn.functional as F
from data import batches

net = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.autocast("cpu", dtype=torch.bfloat16):
    for x, y in batches:
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
