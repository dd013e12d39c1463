import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.no_grad()
def views(model, batches):
    for x, _ in batches:
        yield model(x)


def train(model, batches, optimizer, device_type="cuda"):
    with torch.autocast(device_type, dtype=torch.bfloat16):
        for target in views(model, batches):
            loss = F.mse_loss(model(target), target)
            loss.backward()
            optimizer.step()
