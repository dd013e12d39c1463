"""The gradients are divided by a scale that was thrown away: training stands still, without a message."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(steps=6), "cpu", init_scale=1024.0)
    return seen


def reference(case):
    """The same training in float32, without a scaler."""
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for inputs, targets in batches(steps=6):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
