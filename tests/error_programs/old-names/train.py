import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from torch.cuda.amp import GradScaler, autocast

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scaler = GradScaler()
for _ in range(2):
    optimizer.zero_grad()
    with autocast():
        loss = model(torch.randn(8, 4)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
