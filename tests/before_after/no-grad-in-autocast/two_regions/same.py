import torch
import torch.nn as nn
import torch.nn.functional as F


def separate(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x)
    with torch.autocast(device_type):
        return F.mse_loss(model(x + 0.1), target)


def hoisted(model, x, device_type="cuda"):
    with torch.no_grad():
        target = model(x)
    with torch.autocast(device_type):
        return F.mse_loss(model(x + 0.1), target)


def combined(model, batches, device_type="cuda"):
    for x in batches:
        with torch.no_grad(), torch.autocast(device_type):
            target = model(x)
        with torch.autocast(device_type):
            F.mse_loss(model(x + 0.1), target).backward()


def a_region_each_round(model, batches, device_type="cuda"):
    for number, x in enumerate(batches):
        with torch.autocast(device_type):
            if number % 2:
                F.mse_loss(model(x), x).backward()
            else:
                with torch.no_grad():
                    print(model(x).norm())
