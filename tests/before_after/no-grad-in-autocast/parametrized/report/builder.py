from torch import nn
from torch.nn.utils.parametrizations import weight_norm


def mlp(sizes):
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:]):
        layer = nn.Linear(n_in, n_out, bias=False)
        layers += [weight_norm(layer), nn.GELU()]
    return nn.Sequential(*layers[:-1])
