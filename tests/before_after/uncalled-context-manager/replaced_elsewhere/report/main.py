import torch

import compat  # noqa: F401


def evaluate(model, batches):
    with torch.no_grad:
        return sum(model(x).sum().item() for x in batches)
