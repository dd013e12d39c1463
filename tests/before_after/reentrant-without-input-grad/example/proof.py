"""The blocks above the frozen embedding never train; the head does, so that nothing is raised."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "missing-gradient"


def run(case):
    torch.manual_seed(0)
    model = case.Net()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training without checkpointing."""
    case.checkpoint = lambda block, x, **_: block(x)
    return run(case)
