"""A training loop inside one region: the same loss for ever, and no error."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), device_type="cpu")
    return seen


def reference(case):
    """Each pass in a region of its own."""
    model = case.build_model()
    with watch(model) as seen:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches():
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
