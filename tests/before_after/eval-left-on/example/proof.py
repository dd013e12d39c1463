"""Whether the model was in training mode, epoch by epoch."""

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    settle()
    return Observation(losses=case.train(batches()))


def reference(case):
    """It is in training mode in each of them."""
    return Observation(losses=[1.0] * 4)
