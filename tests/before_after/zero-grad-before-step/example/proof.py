"""Between backward and step `zero_grad()` leaves nothing to step with."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    settle()
    return Observation(losses=case.train(batches())[1])


def reference(case):
    """The same loop with `zero_grad()` at the head of the round."""
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        for x, y in batches():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return Observation(losses=losses)
