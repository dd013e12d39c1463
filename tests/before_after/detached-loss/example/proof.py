"""The plain training loop."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


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
