"""All that `training_step` computes stands in a `no_grad` block."""

from codemods.verify.observe import batches, fit

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


def run(case):
    return fit(case.Whole(), batches())
