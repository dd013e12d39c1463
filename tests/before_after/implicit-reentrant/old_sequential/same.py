# fixer: target=torch==1.13.1 unsafe
from torch.utils.checkpoint import checkpoint_sequential


def forward(layers, x):
    return checkpoint_sequential(layers, 2, x)
