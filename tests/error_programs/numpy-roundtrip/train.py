import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
out = model(torch.randn(8, 4)).detach().numpy()
out = torch.from_numpy(out * 2)
loss = F.mse_loss(out, torch.ones(8, 1))
loss.backward()
optimizer.step()
