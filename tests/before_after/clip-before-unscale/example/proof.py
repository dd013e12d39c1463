"""The clip sees gradients 1,024 times too large, so that the step all but vanishes: no message, only numbers."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train_epoch(model, batches(steps=6), "cpu", init_scale=1024.0)
    return seen


def reference(case):
    """The same training in float32, without a scaler."""
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    with watch(model) as seen:
        for inputs, targets in batches(steps=6):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
