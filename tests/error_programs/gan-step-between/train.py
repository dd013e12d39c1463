import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


G, D = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
og = torch.optim.SGD(G.parameters(), 0.1)
od = torch.optim.SGD(D.parameters(), 0.1)
for _ in range(2):
    fake = G(torch.randn(8, 4))
    g_loss = -D(fake).mean()
    d_loss = D(fake.detach()).mean() - D(torch.randn(8, 4)).mean()
    od.zero_grad()
    d_loss.backward()
    od.step()
    og.zero_grad()
    g_loss.backward()
    og.step()
