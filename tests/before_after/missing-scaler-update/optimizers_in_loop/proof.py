"""With `unscale_` in the loop the second iteration says it differently; one update after the loop is enough."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "unscale_() is being called after step()."
TOLERANCE = 1e-5


def layers():
    torch.manual_seed(3)
    return [torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)]


def run(case):
    first, activation, last = layers()
    with watch(first, last) as seen:
        case.train([torch.nn.Sequential(first, activation), last], batches(), torch.nn.MSELoss(), "cpu", 1024.0)
    return seen


def reference(case):
    """The same training without a scaler, and with one optimizer."""
    first, activation, last = layers()
    model = torch.nn.Sequential(first, activation, last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(first, last) as seen:
        for inputs, targets in batches():
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), targets).backward()
            torch.nn.utils.clip_grad_norm_(first.parameters(), 5.0)
            torch.nn.utils.clip_grad_norm_(last.parameters(), 5.0)
            optimizer.step()
    return seen
