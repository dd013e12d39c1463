"""The learning rate of each step of the optimizer: a warmup over four of them."""

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    settle()
    return Observation(losses=case.train(batches(steps=16)))


def reference(case):
    """From a quarter of the rate, a fourth of the way in each step."""
    return Observation(losses=[0.25, 0.4375, 0.625, 0.8125])
