import torch
from torch import autocast


def step(net, x):
    with torch.set_grad_enabled:
        net(x)
    with torch.autograd.set_detect_anomaly:
        net(x)
    with autocast:
        net(x)
    with torch.amp.autocast:
        return net(x)
