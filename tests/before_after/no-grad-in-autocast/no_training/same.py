import torch
import torch.nn as nn
import torch.nn.functional as F


def validate(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


@torch.no_grad()
def run(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


def all_off(model, x, device_type="cuda"):
    with torch.no_grad():
        with torch.autocast(device_type):
            with torch.inference_mode():
                target = model(x)
            return F.mse_loss(model(x + 0.1), target)


def both_grad_modes(model, x, training, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.set_grad_enabled(training):
            target = model(x)
        with torch.inference_mode(False):
            target = target + model(x)
        with torch.set_grad_enabled(training):
            return F.mse_loss(model(x + 0.1), target)
