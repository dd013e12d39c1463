"""The scheduler is not made; without the argument the model trains."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "got an unexpected keyword argument 'verbose'"


def run(case):
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen
