import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 1)
head = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for p in model.parameters():
    p.requires_grad = False
scaler = torch.amp.GradScaler("cpu")
loss = head(model(torch.randn(8, 4))).pow(2).mean()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
