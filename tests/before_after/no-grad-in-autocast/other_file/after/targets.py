import torch


@torch.no_grad()
def pseudo_labels(model, x):
    """The model's own answer."""
    result = model(x)
    torch.clear_autocast_cache()
    return result
