"""Evaluation, then training: before, the conversion raises; after, the norms are those of the rounded features."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "unsupported ScalarType BFloat16"
TOLERANCE = 1e-6


def run(case):
    settle()
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.evaluate(model, batches())
        model(batches()[0][0]).mean().backward()
    return seen


def reference(case):
    """The norms without NumPy."""
    settle()
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = [float(model(x).detach().to(torch.bfloat16).double().norm()) for x, _ in batches()]
        model(batches()[0][0]).mean().backward()
    return seen
