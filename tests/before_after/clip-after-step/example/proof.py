"""A clip behind the step shortens gradients that nobody uses any more."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    settle()
    return Observation(losses=case.train(batches())[1])


def reference(case):
    """The same loop with the clip between the backward pass and the step."""
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        for x, y in batches():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            losses.append(loss.item())
    return Observation(losses=losses)
