"""Four steps in float16 with a gradient scaler: those of a plain loop that clips."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, fit, settle, watch

SYMPTOM = "differs"
TOLERANCE = 2e-2


def run(case):
    settle()
    return fit(case.Regression(), batches(), precision="16-mixed")


def reference(case):
    settle()
    module = case.Regression()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    with watch(module) as seen:
        for x, y in batches():
            loss = F.mse_loss(module.linear(x), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), 0.1)
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
