"""An autocast context without cache inside the region of Lightning."""

from codemods.verify.observe import batches, fit

SYMPTOM = "missing-gradient"
BITES = {"torch": "<2.11", "lightning": "<2.5.5"}
WITNESS = "torch.is_autocast_enabled"


def run(case):
    return fit(case.Regressor(), batches(), precision="bf16-mixed")
