import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 1).half()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 4).half()).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
