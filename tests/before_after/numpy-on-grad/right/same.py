import numpy as np
import torch
from torch.nn import functional as F


def read(model, loader, optimizer):
    losses = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().cpu().numpy())
        losses.append(loss.data.numpy())
        losses.append(loss.item())
        losses.append(loss.numpy(force=True))
        with torch.no_grad():
            again = F.mse_loss(model(x), y)
            losses.append(again.numpy())
    return np.mean(losses)


def bound_anew(model, loader, optimizer):
    losses = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss = loss.detach()
        losses.append(loss.cpu().numpy())
    return np.array(losses)


def labels(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(np.asarray(y), y.numpy())
