"""A user's own optimizer, driven by a closure in plain PyTorch."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training, with the backward pass before a step without a closure."""
    model = case.build_model()
    optimizer = case.SignDescent(model.parameters())
    with watch(model) as seen:
        for x, y in batches():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
