import torch


def without_graphs(kind):
    for name, method in list(vars(kind).items()):
        if callable(method):
            setattr(kind, name, torch.no_grad()(method))
    return kind
