"""A LightningModule in automatic optimization: nothing is raised, and nothing trains."""

from codemods.verify.observe import batches, fit

SYMPTOM = "missing-gradient"


def run(case):
    return fit(case.Regressor(), batches())
