"""Only the backbone is used under no_grad, for a log line: it alone never trains again, and nothing is raised."""

from codemods.verify.observe import batches, fit

SYMPTOM = "missing-gradient"
BITES = {"torch": "<2.11", "lightning": "<2.5.5"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    return fit(case.Regressor(), batches(), precision="bf16-mixed")
