"""The steps of a training loop that keeps its losses as arrays."""

import torch

from codemods.verify.observe import batches, observe, settle

SYMPTOM = "Can't call numpy() on Tensor that requires grad"
TOLERANCE = 1e-6


def run(case):
    settle()
    return observe(case.train(batches()))


def reference(case):
    """The same steps, without arrays."""
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return observe(model)
