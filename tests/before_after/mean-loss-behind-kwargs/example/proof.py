"""Two steps of four batches: the norms of the gradients are those of batches four times as large."""

import tempfile

import torch

from codemods.verify.observe import observe, settle

SYMPTOM = "differs"
TOLERANCE = 1e-4


def rows():
    settle()
    generator = torch.Generator().manual_seed(0)
    return [
        {"features": torch.randn(4, generator=generator), "labels": torch.randn(1, generator=generator)}
        for _ in range(16)
    ]


def seen_of(trainer):
    told = [each for each in trainer.state.log_history if "grad_norm" in each]
    seen = observe(trainer.model, numbers={f"norm {n}": float(each["grad_norm"]) for n, each in enumerate(told)})
    seen.losses = [float(each["loss"]) for each in told]
    seen.gradients = {}
    seen.weights = {}
    return seen


def run(case):
    return seen_of(case.main(rows(), tempfile.mkdtemp()))


def reference(case):
    """The same rows, eight at a time."""
    plain = case.TrainingArguments
    case.TrainingArguments = lambda folder, **given: plain(
        folder, **given | {"gradient_accumulation_steps": 1, "per_device_train_batch_size": 8}
    )
    try:
        return seen_of(case.main(rows(), tempfile.mkdtemp()))
    finally:
        case.TrainingArguments = plain
