"""A LightningModule in automatic optimization that returns a number."""

from codemods.verify.observe import batches, fit

SYMPTOM = "In automatic optimization, `training_step` must return a Tensor, a dict, or None"


def run(case):
    return fit(case.Regressor(), batches())
