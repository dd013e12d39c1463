"""The first segment sees raw data, which requires no gradient: it never trains, and nothing is raised."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "missing-gradient"


def run(case):
    torch.manual_seed(0)
    model = case.Encoder()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training without checkpointing."""
    case.checkpoint_sequential = lambda layers, segments, x, **_: layers(x)
    return run(case)
