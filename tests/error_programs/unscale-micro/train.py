import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
for i in range(8):
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(torch.randn(8, 4)).pow(2).mean() / 4
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
