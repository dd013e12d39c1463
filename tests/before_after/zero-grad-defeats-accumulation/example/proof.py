"""The norms of the gradients that the steps use, against those of one large batch."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import Observation, batches, settle

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    settle()
    return Observation(losses=case.train(batches(steps=8)))


def reference(case):
    """Four batches as one."""
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    every, norms = batches(steps=8), []
    for window in (every[:4], every[4:]):
        x, y = (torch.cat([each[i] for each in window]) for i in (0, 1))
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 100.0).item())
        optimizer.step()
    return Observation(losses=norms)
