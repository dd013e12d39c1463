"""A keyword input is refused."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "Unexpected keyword arguments: mask"


def run(case):
    torch.manual_seed(0)
    model = case.Net()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training without checkpointing."""
    case.checkpoint = lambda block, x, mask, **_: block(x, mask)
    return run(case)
