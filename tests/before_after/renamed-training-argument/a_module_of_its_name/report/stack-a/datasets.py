"""Readers of our store; no relation to the package of this name."""
import torch


def load_dataset(name, split, use_auth_token=None, task=None):
    g = torch.Generator().manual_seed(len(name) + len(split))
    x = torch.randn(64, 4, generator=g)
    return [{"x": row, "y": row.sum().reshape(1)} for row in x]
