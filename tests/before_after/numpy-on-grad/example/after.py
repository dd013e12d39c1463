import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().cpu().numpy())
    print(f"mean loss {np.mean(losses):.4f}")
    return model
