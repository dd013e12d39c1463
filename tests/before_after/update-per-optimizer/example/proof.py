"""The scale doubles after every update: the second optimizer divides its gradients by twice their scale."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


def run(case):
    first, second = case.build_models()
    with watch(first, second) as seen:
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1)
        seen.losses = case.train(first, second, batches(steps=6), scaler)
    return seen


def reference(case):
    """The same training without a scaler."""
    first, second = case.build_models()
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.05)
    with watch(first, second) as seen:
        for inputs, targets in batches(steps=6):
            optimizer.zero_grad()
            criterion = torch.nn.functional.mse_loss
            loss = criterion(first(inputs), targets) + criterion(second(inputs), targets)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
