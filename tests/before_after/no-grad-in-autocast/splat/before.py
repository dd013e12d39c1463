# fixer: unsafe
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batch, amp_options, *views, **inputs):
    with torch.autocast(**amp_options):
        with torch.no_grad():
            target = model(*views, **inputs)
        return F.mse_loss(model(*batch, **inputs), target)
