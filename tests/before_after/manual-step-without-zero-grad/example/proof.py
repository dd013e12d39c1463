"""Without `zero_grad()` each step repeats the gradients of all steps before."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, fit, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    return fit(case.Tutorial(), batches())


def reference(case):
    """The same model and losses in a plain loop with one optimizer."""
    module = case.Tutorial()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    with watch(module) as seen:
        for x, y in batches():
            z = module.encoder(x)
            loss = F.mse_loss(module.decoder(z), x) + F.mse_loss(module.head(z), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
