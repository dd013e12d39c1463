import torch


def tidy_gradients(module, bound=0.1):
    """Called between backward and step."""
    parameters = [p for p in module.parameters() if p.grad is not None]
    torch.nn.utils.clip_grad_value_(parameters, bound)
    return len(parameters)
