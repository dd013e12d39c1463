import torch
import torch.nn as nn
import torch.nn.functional as F


def straight(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        out = model(x)
        with torch.no_grad():
            target = model(x + 0.1)
        return F.mse_loss(out, target)


def again(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        first = model(x)
        with torch.no_grad():
            target = model.encoder(x + 0.1)
        return F.mse_loss(first + model(x), target)


def looped(model, batches, device_type="cuda"):
    with torch.autocast(device_type):
        for x in batches:
            loss = F.mse_loss(model(x), x)
            loss.backward()
            with torch.no_grad():
                print(model(x).norm())
