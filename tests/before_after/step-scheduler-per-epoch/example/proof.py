"""The learning rates of one epoch: before, the schedule stays at its beginning."""

from codemods.verify.observe import Observation, batches, fit

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    module = case.Regressor()
    fit(module, batches())
    return Observation(losses=[float(len({round(each, 6) for each in module.rates}))])


def reference(case):
    """Every batch has a rate of its own."""
    return Observation(losses=[float(len(batches()))])
