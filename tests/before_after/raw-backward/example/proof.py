"""Float16 with a gradient scaler, three optimizers and ReduceLROnPlateau in one manual training step."""

from codemods.verify.observe import batches, fit

SYMPTOM = "Attempted unscale_ but _scale is None"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    return fit(case.AdversarialAutoencoder(), batches(), precision="16-mixed")


def reference(case):
    """The same class in float32, where a raw backward does no harm."""
    return fit(case.AdversarialAutoencoder(), batches(), precision="32-true")
