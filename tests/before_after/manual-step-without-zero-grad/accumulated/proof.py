"""Gradients of four batches: without `zero_grad()` each step repeats all that came before."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import Observation, batches, fit, fingerprint

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    return fit(case.Modulo(), batches(steps=12))


def reference(case):
    """The same accumulation, written without Lightning."""
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for number, (x, y) in enumerate(batches(steps=12)):
        F.mse_loss(net(x), y).backward()
        if number % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    return Observation(weights={f"net.{name}": fingerprint(p) for name, p in net.named_parameters()})
