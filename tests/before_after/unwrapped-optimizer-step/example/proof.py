"""Four steps: those of a plain loop, and how many of them the Trainer has counted."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, fit, watch

SYMPTOM = "differs"
TOLERANCE = 1e-4


def run(case):
    module = case.Regression()
    seen = fit(module, batches())
    seen.numbers = {"steps that were counted": module.trainer.global_step}
    return seen


def reference(case):
    module = case.Regression()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    with watch(module) as seen:
        for x, y in batches():
            loss = F.mse_loss(module.linear(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    seen.numbers = {"steps that were counted": 4}
    return seen
