import torch


@torch.no_grad()
def pseudo_labels(model, x):
    """The model's own answer."""
    return model(x)
