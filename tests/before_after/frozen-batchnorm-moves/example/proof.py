"""Four steps of the head: how far the running mean of the frozen part has moved."""

import torch

from codemods.verify.observe import batches, observe, settle

SYMPTOM = "differs"


def run(case):
    settle()
    model = case.train(batches())
    seen = observe(model, numbers={"running mean moved by": float(model.body.norm.running_mean.abs().max())})
    seen.losses, seen.gradients, seen.weights = [], {}, {}
    return seen


def reference(case):
    seen = observe(torch.nn.Linear(1, 1), numbers={"running mean moved by": 0.0})
    seen.gradients, seen.weights = {}, {}
    return seen
