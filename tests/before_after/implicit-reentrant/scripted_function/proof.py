"""A TorchScript function in the block: trains reentrant, and is left so; non-reentrant it crashes."""

import random

import torch
from torch.utils import checkpoint as real

from codemods.verify.observe import batches, watch

SYMPTOM = "the use_reentrant parameter should be passed explicitly"
CRASH = "failed in the TorchScript interpreter"


def run(case):
    case.checkpoint = lambda block, x, **_: real.checkpoint(block, x, use_reentrant=False)
    try:
        train(case)
    except Exception as error:
        assert CRASH in str(error), error
    else:
        raise AssertionError("it trains non-reentrant as well")
    case.checkpoint = real.checkpoint
    return train(case)


def train(case):
    torch.manual_seed(0)
    random.seed(0)
    model = case.Model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(steps=6))
    return seen
