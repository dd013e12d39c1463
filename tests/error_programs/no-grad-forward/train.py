import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def step(model, x):
    with torch.no_grad():
        out = model(x)
    loss = F.mse_loss(out, torch.ones(8, 1))
    loss.backward()

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
step(model, torch.randn(8, 4))
optimizer.step()
