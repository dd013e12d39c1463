"""One step: how many parameters the optimizer has, and how far the scale moves."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"


def run(case):
    settle()
    model = case.Scaled(8)
    before = model.scale.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        loss = model(batches()[0][0]).square().mean()
        loss.backward()
        optimizer.step()
    moved = bool((model.scale.detach() != before).any())
    seen.losses = [loss.item()]
    seen.numbers = {"parameters": len(list(model.parameters())), "the scale moves": float(moved)}
    return seen


def reference(case):
    """A weight, a bias and a scale, which all move."""
    settle()
    with watch(torch.nn.Linear(1, 1)) as seen:
        pass
    seen.gradients, seen.weights, seen.moved = {}, {}, {}
    seen.numbers = {"parameters": 3, "the scale moves": 1.0}
    return seen
