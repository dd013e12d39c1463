import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


@torch.inference_mode()
def training_step(model, x):
    return model(x).pow(2).mean()

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loss = training_step(model, torch.randn(8, 4))
loss.backward()
optimizer.step()
