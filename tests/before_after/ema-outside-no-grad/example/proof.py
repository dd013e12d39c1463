"""Four updates of a frozen copy: how deep the graph of its weights is."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"


def run(case):
    settle()
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        ema, seen.losses = case.train(model, batches())
    function, depth = ema.weight.grad_fn, 0
    while function is not None:
        depth, function = depth + 1, next(iter(function.next_functions), (None,))[0]
    seen.numbers = {"depth of the graph": depth}
    return seen


def reference(case):
    with watch(torch.nn.Linear(1, 1)) as seen:
        pass
    seen.gradients, seen.weights, seen.moved = {}, {}, {}
    seen.numbers = {"depth of the graph": 0}
    return seen
