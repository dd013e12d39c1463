import torch
import torch.nn as nn
import torch.nn.functional as F


def parameter(model, x, torch, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)
