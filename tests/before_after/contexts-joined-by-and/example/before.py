# fixer: unsafe
import torch
import torch.nn.functional as F


def evaluate(model, batches):
    losses = []
    for x, y in batches:
        with torch.no_grad() and torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.mse_loss(model(x), y)
        losses.append(loss)
    return losses
