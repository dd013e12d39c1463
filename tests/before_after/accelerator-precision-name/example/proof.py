"""The Accelerator is not made; with the name that it knows the model trains."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "Unknown mixed_precision mode: bfloat16"


def run(case):
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen
