from contextlib import suppress
from functools import partial

import torch
import torch.nn.functional as F


def get_autocast(precision, device_type="cuda"):
    if precision == "amp":
        return partial(torch.amp.autocast, device_type=device_type)
    return suppress


def accumulate(model, batches, args):
    """Features first, without a graph; each pass has a region of its own."""
    autocast = get_autocast(args.precision)
    with torch.no_grad():
        with autocast():
            features = [model(x) for x in batches]
    for x, feature in zip(batches, features):
        with autocast():
            loss = F.mse_loss(model(x), feature)
        loss.backward()
