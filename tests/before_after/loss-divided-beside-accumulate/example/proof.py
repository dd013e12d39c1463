"""Eight batches, four for each step: the losses are those of the mean over four."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.train(model, batches(steps=8), 4)
    return seen


def reference(case):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for number, (x, y) in enumerate(batches(steps=8), start=1):
            loss = F.mse_loss(model(x), y)
            (loss / 4).backward()
            if number % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            seen.losses.append(loss.item())
    return seen
