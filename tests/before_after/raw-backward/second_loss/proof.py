"""The silent form: the scaler knows of the first loss only, so the second one's gradients are divided by its scale."""

from codemods.verify.observe import batches, fit

SYMPTOM = "differs"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    return fit(case.Regularised(), batches(), precision="16-mixed")


def reference(case):
    """The same class in float32, where a raw backward does no harm."""
    return fit(case.Regularised(), batches(), precision="32-true")
