"""The losses of two evaluations of the same model: before, they differ."""

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    settle()
    model = case.Classifier()
    case.train(model, batches())
    first, second = case.evaluate(model, batches()), case.evaluate(model, batches())
    return Observation(losses=[a - b for a, b in zip(first, second)])


def reference(case):
    """An evaluation gives the same twice."""
    return Observation(losses=[0.0] * len(batches()))
