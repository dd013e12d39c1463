"""Fifty steps: how many nodes of graphs hang on the sum, and what it comes to."""

import builtins

import torch

from codemods.verify.observe import batches, observe, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6


def run(case):
    settle()
    held = []
    told = builtins.float

    class Float(told):
        def __new__(cls, value=0.0):
            held.append(_nodes(value))
            return told.__new__(cls, value)

    case.float = Float
    model = case.train(batches())
    return observe(model, numbers={"nodes": max(held)})


def _nodes(value):
    """The nodes of the graph behind a value."""
    seen, waiting = set(), [getattr(value, "grad_fn", None)]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [each for each, _ in node.next_functions]
    return float(len(seen))


def reference(case):
    """The same steps, and no graph behind the sum."""
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return observe(model, numbers={"nodes": 0.0})
