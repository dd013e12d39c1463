import torch


def has_modes(path):
    model = torch.nn.Linear(1, 1)
    try:
        model.eval
    except AttributeError:
        return False
    return True
