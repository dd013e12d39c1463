"""The loss has a graph, and the assignment raises."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "you can only change requires_grad flags of leaf variables."


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
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
