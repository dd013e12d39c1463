# fixer: target=torch==1.10.2 unsafe
from torch.utils.checkpoint import checkpoint


def forward(block, x):
    return checkpoint(block, x)
