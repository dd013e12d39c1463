import torch
import torch.nn as nn
import torch.nn.functional as F


def after(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
        torch.clear_autocast_cache()
        return F.mse_loss(model(x + 0.1), target)


def inside(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
            if torch.is_autocast_enabled(): torch.clear_autocast_cache()
        return F.mse_loss(model(x + 0.1), target)


@torch.no_grad()
def target_of(model, x):
    try:
        return model(x)
    finally:
        torch.clear_autocast_cache()


def in_helper(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        return F.mse_loss(target_of(model, x), model(x + 0.1))
