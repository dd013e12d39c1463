# fixer: target=torch==2.14.0
import torch
from torch.utils.checkpoint import checkpoint


@checkpoint(use_reentrant=True)
def attention(q, k, v):
    return torch.softmax(q @ k.mT, dim=-1) @ v


mixed = checkpoint(use_reentrant=True, preserve_rng_state=False)(torch.tanh)
