"""The learning rate of each epoch."""

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "Detected call of `lr_scheduler.step()` before `optimizer.step()`."
TOLERANCE = 1e-6


def run(case):
    settle()
    return Observation(losses=case.train(batches()))


def reference(case):
    """The first one is that of the optimizer."""
    return Observation(losses=[0.1, 0.05, 0.025, 0.0125])
