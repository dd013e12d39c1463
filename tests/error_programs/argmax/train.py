import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(2):
    prediction = model(torch.randn(8, 4)).argmax(1).float()
    loss = F.mse_loss(prediction, torch.ones(8))
    loss.backward()
    optimizer.step()
