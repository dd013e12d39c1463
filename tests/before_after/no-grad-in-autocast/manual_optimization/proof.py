"""A LightningModule whose step calls a helper, which calls a decorated helper."""

from codemods.verify.observe import batches, fit

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"torch": "<2.11", "lightning": "<2.5.5"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    return fit(case.MeanTeacher(), batches(), precision="bf16-mixed")
