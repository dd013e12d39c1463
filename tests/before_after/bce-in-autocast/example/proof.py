"""The loss of a model that is sure and wrong: before, it is cut off, and no gradient arrives."""

import torch

from codemods.verify.observe import Observation, settle

SYMPTOM = "differs"
TOLERANCE = 0.1


def _model():
    model = torch.nn.Linear(8, 1)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.fill_(12.0)
    return model


def run(case):
    settle()
    return Observation(losses=case.train(_model(), [(torch.randn(4, 8), torch.zeros(4, 1))]))


def reference(case):
    """The loss in 32 bits."""
    return Observation(losses=[12.0])
