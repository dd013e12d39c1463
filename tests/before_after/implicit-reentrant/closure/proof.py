"""Only the residual branch is cut off: the skip connection carries gradients around it."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "missing-gradient"


def run(case):
    torch.manual_seed(0)
    model = case.build()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training without checkpointing."""
    case.cp.checkpoint, kept = lambda inner, **_: inner(), case.cp.checkpoint
    try:
        return run(case)
    finally:
        case.cp.checkpoint = kept
