"""Evaluation keeps the graph of every loss; then the model is trained by one step."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"


def run(case):
    settle()
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        losses = case.evaluate(model, batches())
        model(batches()[0][0]).mean().backward()
    seen.losses = [float(loss.detach()) for loss in losses]
    seen.numbers = {"losses with a graph": sum(loss.requires_grad for loss in losses)}
    return seen


def reference(case):
    settle()
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        model(batches()[0][0]).mean().backward()
    seen.numbers = {"losses with a graph": 0}
    return seen
