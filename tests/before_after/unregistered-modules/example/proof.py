"""How many parameters the optimizer is given: before, those of the last layer only."""

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    settle()
    return Observation(losses=[float(case.train(case.Net(), batches()))])


def reference(case):
    """Weight and bias of four layers."""
    return Observation(losses=[8.0])
