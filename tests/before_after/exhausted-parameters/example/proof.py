"""Four steps whose gradients are clipped: the norms are those of the gradients."""

import torch

from codemods.verify.observe import batches, observe, settle

SYMPTOM = "differs"
TOLERANCE = 1e-6
MOST = 0.1


def run(case):
    settle()
    model, norms = case.train(batches(), MOST)
    return observe(model, numbers={f"norm {step}": norm for step, norm in enumerate(norms)})


def reference(case):
    """The norm of all gradients, and a step by hand."""
    settle()
    model = torch.nn.Linear(8, 1)
    numbers = {}
    for step, (x, y) in enumerate(batches()):
        model.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        numbers[f"norm {step}"] = float(norm)
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad * min(1.0, MOST / float(norm))
    seen = observe(model, numbers=numbers)
    seen.weights = {}
    return seen
