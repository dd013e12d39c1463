"""The second loss takes no part in training: its gradients are 1,024 times too small, without a message."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 1e-4


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        case.train(model, batches(steps=6), "cpu", init_scale=1024.0)
    return seen


def reference(case):
    """The same training without a scaler."""
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for inputs, targets in batches(steps=6):
            optimizer.zero_grad()
            hidden = model["body"](inputs)
            main_loss = F.mse_loss(model["main"](hidden), targets)
            side_loss = F.l1_loss(model["side"](hidden), targets)
            (main_loss + 0.5 * side_loss).backward()
            optimizer.step()
    return seen
