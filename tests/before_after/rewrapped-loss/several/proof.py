"""Two losses in a new tensor that requires gradients: nothing is raised, and nothing trains."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "missing-gradient"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        for x, y in batches():
            fit = torch.nn.functional.mse_loss(model(x), y)
            smooth = 0.1 * torch.nn.functional.l1_loss(model(x + 0.1), model(x))
            optimizer.zero_grad()
            (fit + smooth).backward()
            optimizer.step()
            seen.losses.append((fit + smooth).item())
    return seen
